// Keeps the records of a resource in memory: loads them, applies their changes, resumes after a lost connection, and loads them
// again after a resync. It runs in browsers and in Node.js, without dependencies. See docs/changes.md.

/** Errors after which trying again does not help: the token has ended, or there is no such resource. */
const final = [400, 401, 403, 404]
const maxPause = 30_000 // ms between two attempts

/** A response that is not successful, with its problem details. */
class Problem extends Error {
  constructor(status, details) {
    super(details.detail ?? `status ${status}`)
    Object.assign(this, details, { status })
  }
}

/** The records of a resource, by id. */
export class Records extends Map {
  #address
  #session
  #headers
  #position = null // in the log of changes; null: load the records first
  #pause = 1000 // ms

  /**
   * address is the URL of a list, such as https://api.example.com/articles. caller is a Session of session.mjs, whose token is refreshed,
   * or a user token or an API key; without it, the calls are anonymous.
   */
  constructor(address, caller) {
    super()
    this.#address = address
    this.#session = caller?.fetch ? caller : null
    this.#headers = typeof caller === 'string' ? { Authorization: `Bearer ${caller}` } : {}
  }

  /**
   * Follows the changes until the signal is aborted. onEvent is called with each event after it was applied, and with
   * {event: 'loaded'} after all records were loaded. Rejects if the token ends or the list cannot be read.
   */
  async follow(signal, onEvent = () => {}) {
    while (!signal.aborted) {
      let failed = false
      try {
        if (this.#position === null) {
          await this.#load(signal)
          onEvent({ event: 'loaded' })
        }
        await this.#stream(signal, onEvent)
      } catch (error) {
        if (signal.aborted) return
        if (final.includes(error.status)) throw error
        this.#pause = Math.min(2 * this.#pause, maxPause)
        failed = true
      }
      if (!signal.aborted && (failed || this.#position !== null)) await this.#wait(signal) // after a resync, load the records immediately
    }
  }

  /** Loads all records. Changes that are made meanwhile follow the position, which is read first. */
  async #load(signal) {
    const { next: position } = await this.#get('/changes', {}, signal)
    this.clear()
    for (let after = ''; ;) {
      const page = await this.#get('', { limit: 100, count: false, sort: 'createdAt', ...(after && { after }) }, signal)
      for (const record of page.rows) this.set(record.id, record)
      if (!page.next) break
      after = page.next
    }
    this.#position = position
  }

  async #get(path, query, signal) {
    const response = await this.#fetch(`${path}?${new URLSearchParams(query)}`, {}, signal)
    const body = await response.json().catch(() => ({}))
    if (!response.ok) throw new Problem(response.status, body)
    return body
  }

  /** In Node.js, the signal of a Request has no effect after the Request was garbage-collected (nodejs/node#55428): fetch needs it, too. */
  #fetch(path, headers, signal) {
    const request = new Request(this.#address + path, { headers: { ...this.#headers, ...headers }, signal, credentials: 'omit' })
    return this.#session ? this.#session.fetch(request, { signal }) : fetch(request, { signal })
  }

  /** Reads one connection to its end. */
  async #stream(signal, onEvent) {
    const response = await this.#fetch('/changes', { Accept: 'text/event-stream', 'Last-Event-ID': this.#position }, signal)
    if (!response.ok) throw new Problem(response.status, await response.json().catch(() => ({})))
    this.#pause = 1000
    let text = ''
    const decoder = new TextDecoder()
    const reader = response.body.getReader()
    const cancel = () => reader.cancel().catch(() => {}) // rejects if fetch has canceled it already
    signal.addEventListener('abort', cancel)
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const blocks = (text + decoder.decode(part.value, { stream: true })).split('\n\n')
        text = blocks.pop()
        for (const block of blocks) {
          const event = parse(block)
          if (event.retry) this.#pause = Number(event.retry)
          if (event.event) this.#apply(event)
          else if (event.id) this.#position = event.id
          if (event.event) onEvent(event)
          if (event.event === 'resync' || event.event === 'end') return reader.cancel()
        }
      }
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  /** Applies an event, and then moves the position. */
  #apply({ id, event, data }) {
    if (event === 'created' || event === 'updated') this.set(data.id, data)
    if (event === 'deleted') this.delete(data.id)
    if (event === 'end') {
      if (this.#session && data.code === 'unauthorized') return // the session refreshes its token for the next connection
      if (data.code === 'forbidden') { // the role has changed: load the records that are visible now
        this.#position = null
        return
      }
      throw new Problem({ unauthorized: 401, not_found: 404, internal: 500, unavailable: 503 }[data.code] ?? 403, data)
    }
    this.#position = event === 'resync' ? null : id
  }

  #wait(signal) {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, this.#pause * (0.5 + Math.random()))
      signal.addEventListener('abort', end)
    })
  }
}

/** Parses an event: the lines of one block of text/event-stream. */
function parse(block) {
  const fields = block.split('\n').filter((line) => !line.startsWith(':')).map((line) => line.split(/: (.*)/s))
  const event = Object.fromEntries(fields)
  return { ...event, data: event.data && JSON.parse(event.data) }
}
