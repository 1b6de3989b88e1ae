// The client of the API of Ginseng, generated from its API document. Do not edit.

const REPEATS = 4
const REPEAT_WITHIN = 30_000 // ms
const EVENTS = 'text/event-stream'
const REDIRECTS = [301, 302, 303, 307, 308]

/** An error response of the API (RFC 9457) or, with status 0 and code network, a request without a complete response. */
export class Problem extends Error {
  constructor(status, body, requestId, options) {
    super(body.detail ?? `HTTP ${status}`, options)
    this.name = 'Problem'
    this.status = status
    this.code = body.code
    this.detail = this.message
    this.requestId = body.requestId ?? requestId
    const errors = new Map()
    for (const error of Array.isArray(body.errors) ? body.errors : []) errors.set(error.param, [...(errors.get(error.param) ?? []), error])
    this.errors = Object.fromEntries(errors)
    if (body.challenge) this.challenge = body.challenge
    if (body.operation !== undefined) this.operation = body.operation
  }
}

/** A field of the response to an earlier operation of a batch. */
class Reference {
  constructor(text) {
    this.text = text
  }

  toJSON() {
    return this.text
  }

  [Symbol.toPrimitive]() {
    throw new TypeError('a field of a result of a batch has no value yet: it can only be a whole field of a later operation, or its ID')
  }
}

/** Returns a record with its ETag in a property that is not enumerable: copies of the record and JSON do not have it. */
function tagged(record, etag) {
  return typeof record === 'object' && record && etag ? Object.defineProperty(record, 'etag', { value: etag, enumerable: false, writable: true, configurable: true }) : record
}

/** Returns the segment of a path for an ID or a record. */
function segment(target) {
  const id = typeof target === 'object' && target && !(target instanceof Reference) ? target.id : target
  if (id instanceof Reference) return id.text
  if (Number.isFinite(id)) return `${id}`
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) throw new TypeError(`${JSON.stringify(id)} is no ID`) // '..' would be another path
  return encodeURIComponent(id)
}

/** Replaces the parameters of a path: by their names, or by their order. */
function fill(template, values) {
  let i = 0
  return template.replace(/\{(\w*)\}/g, (_, name) => segment(Array.isArray(values) ? values[i++] : values?.[name]))
}

/** Returns the query string. A value such as { gt: 1 } of the parameter size is the parameter size[gt]. */
function search(query) {
  const params = new URLSearchParams()
  const text = (value) => (value instanceof Date ? value.toISOString() : value)
  const add = (name, given) => {
    if (given === undefined) return
    const value = Array.isArray(given) ? given.map(text) : text(given)
    if (Array.isArray(value) && name.endsWith('[in]')) {
      // A single value is split at its commas, values of a repeated parameter are not.
      for (const item of value.length === 1 ? [value[0], value[0]] : value) params.append(name, item)
      if (!value.length) params.append(name, '')
    } else if (Array.isArray(value)) {
      if (value.length) params.append(name, value.join())
    } else if (typeof value === 'object' && value) {
      const operators = Object.entries(value).filter(([, operand]) => operand !== undefined)
      if (!operators.length) throw new TypeError(`${name} is an object without an operator`) // not: the whole list
      for (const [operator, operand] of operators) add(`${name}[${operator}]`, operand)
    } else {
      params.append(name, value)
    }
  }
  for (const [name, value] of Object.entries(query ?? {})) add(name, value)
  return `${params}` && `?${params}`
}

/** Resolves as the promise does. Rejects earlier with the reason of the signal. */
function unlessAborted(promise, signal) {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    Promise.resolve(promise).then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Resolves after the time, in ms. Rejects with the reason of the signal. */
async function pause(time, signal) {
  let timer
  const over = new Promise((resolve) => { timer = setTimeout(resolve, time) })
  try {
    await unlessAborted(over, signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the time of a Retry-After header in ms, undefined without one. */
function retryAfter(response) {
  const value = response.headers.get('Retry-After')
  const time = /^\d+$/.test(value) ? value * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(time) ? undefined : Math.max(time, 0)
}

/** Returns the body of a response: a value, a string of an export, or undefined. */
function parse(response, text) {
  const type = response.headers.get('Content-Type') ?? ''
  if (/^application\/(problem\+)?json\b/.test(type)) return JSON.parse(text)
  if (!text || /^(text\/csv|application\/x-ndjson)\b/.test(type)) return text || undefined
  throw new Error(`${type || 'a response without a type'} is no response of the API`)
}

/** Returns the problem of a redirect. A followed one can turn a POST into a GET, or send the body to another origin. */
function redirected(response) {
  const location = response.headers.get('Location') // browsers do not show it
  const detail = `The response is a redirect${location ? ` to ${location}` : ''}. The client follows none: correct the url of createClient.`
  return new Problem(0, { code: 'network', detail })
}

/** Makes a request. Resolves to its body and ETag, or to what take makes of it, or to a problem and, if it can be repeated, the time to wait before. */
async function attempt(fetch, url, init, repeats, take) {
  let response, body
  try {
    response = await fetch(url, init)
    if (response.type === 'opaqueredirect' || REDIRECTS.includes(response.status)) return { problem: redirected(response) }
    const taken = response.ok && await take?.(response)
    if (taken) return { body: taken }
    const text = await response.text()
    if (response.ok) return { body: parse(response, text), etag: response.headers.get('ETag') }
    try { body = parse(response, text) } catch {} // the error page of a proxy
  } catch (cause) {
    init.signal?.throwIfAborted()
    const problem = new Problem(0, { code: 'network', detail: `No complete response: ${cause?.message}` }, undefined, { cause })
    return { problem, wait: (250 + Math.random() * 250) * 2 ** repeats }
  }
  const problem = new Problem(response.status, body ?? {}, response.headers.get('X-Request-Id') ?? undefined)
  return { problem, wait: [429, 503].includes(response.status) ? retryAfter(response) : undefined }
}

/** Returns the stream of a feed; undefined if the response is none. */
const events = (response) => response.headers.get('Content-Type')?.startsWith(EVENTS) ? response.body : undefined

/** Sets a header. The error of Headers.set shows the value, which can be a token. */
function setHeader(headers, name, value) {
  try {
    headers.set(name, value)
  } catch {
    throw new TypeError(`the value of the header ${name} has characters that a header cannot have`)
  }
}

/** Returns a value for Idempotency-Key. randomUUID exists only in pages with TLS. */
function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Resolves to a name of a caller that does not show its token. Without crypto.subtle, there are no Web Locks that need a name. */
async function digest(caller = '') {
  const hash = await crypto.subtle?.digest('SHA-256', new TextEncoder().encode(caller))
  return hash && btoa(String.fromCharCode(...new Uint8Array(hash)))
}

/** Returns the methods that write the records of a resource below the records with the IDs. send sends a request. */
function writer(resource, ids, send) {
  const one = `${resource.path}/{}`
  return {
    create: (fields, options) => send('POST', resource.path, ids, { ...options, body: fields, idempotent: resource.idempotent }),
    update: (target, fields, options) => send('PATCH', one, [...ids, target], { ...options, body: fields, etag: target?.etag }),
    delete: (target, options) => send('DELETE', one, [...ids, target], { ...options, etag: target?.etag }),
  }
}

/** Creates the client. */
export function createClient({ url, token, masterKey, storage, fetch: ownFetch }) {
  const fetch = ownFetch ?? ((...args) => globalThis.fetch(...args))
  const base = url.replace(/\/+$/, '')
  const session = sessions && token === undefined ? createSession(base, masterKey, storage, call) : undefined

  /** Resolves to the token. Its function fails as a request does: it usually makes one. */
  async function ownToken() {
    if (typeof token !== 'function') return token
    try {
      return await token()
    } catch (cause) {
      throw new Problem(0, { code: 'network', detail: cause?.message ?? 'no token' }, undefined, { cause })
    }
  }

  /** Sends a request, and repeats it if it is safe. Resolves to the body and the ETag, or rejects with a Problem. */
  async function call(method, template, { path, query, header, body, blob, onProgress, signal, safe = method === 'GET', anonymous, stream }) {
    const address = base + fill(template, path) + search(query)
    const type = blob ? blob.type.replace(/^multipart.*|^$/, 'application/octet-stream') : 'application/json' // a form would be read as one
    const init = { method, signal, redirect: 'manual', credentials: 'omit', body: blob ?? (body && JSON.stringify(body)) } // no cookies, and no password dialog
    const viaRequest = onProgress && !ownFetch && globalThis.XMLHttpRequest
    const operation = `${method} ${template.replace(/\{\w*\}/g, '{}')}`
    const master = masterKey && masterOnly.includes(operation)
    const take = stream ? events : downloads.includes(operation) ? (response) => response.blob() : undefined
    const end = Date.now() + REPEAT_WITHIN
    let last, lost, user, renewed // the last problem, the last lost response, and the ID of the user of the first request
    for (let repeats = 0; ; repeats++) {
      signal?.throwIfAborted()
      const headers = new Headers()
      for (const [name, value] of Object.entries(header ?? {})) if (value !== undefined) setHeader(headers, name, value)
      if (init.body !== undefined) headers.set('Content-Type', type)
      let state // of the session whose token the request has
      if (!headers.has('Authorization')) {
        let credential
        if (master) credential = masterKey
        else if (session && !anonymous) credential = (state = await unlessAborted(session.current(), signal))?.token
        else credential = await unlessAborted(ownToken(), signal)
        if (last && state?.user?.id !== user) throw last // the session has ended, or is another user's
        user = state?.user?.id
        if (credential) setHeader(headers, 'Authorization', `Bearer ${credential}`)
      }
      const { problem, wait, ...response } = await attempt(viaRequest ? uploader(onProgress) : fetch, address, { ...init, headers }, repeats, take)
      if (!problem) {
        if (!viaRequest) onProgress?.({ loaded: blob.size, total: blob.size })
        return response
      }
      if (lost && problem.status === 412) throw lost // that request may have made the version which this one did not expect
      last = problem
      if (!problem.status) lost = problem
      if (problem.status === 401 && state && !renewed) { // rejected before anything was done
        await unlessAborted(session.refresh(state), signal)
        renewed = true
        repeats--
        continue
      }
      if (repeats && method === 'DELETE' && problem.status === 404) return {} // an earlier request has deleted the record
      if (!safe || wait === undefined || repeats === REPEATS || Date.now() + wait > end) throw problem
      await pause(wait, signal)
    }
  }

  /** Sends a write of a record. Resolves to the record. */
  async function send(method, template, path, { etag, idempotent, safe = idempotent || (method === 'DELETE' && etag !== undefined), ...options }) {
    const header = { 'If-Match': etag, 'Idempotency-Key': idempotent && newKey() }
    const response = await call(method, template, { ...options, path, header, safe })
    return tagged(response.body, response.etag)
  }

  /** Returns the methods of a resource below the records with the IDs. */
  function methods(resource, ids) {
    async function list(query, options) {
      const etags = resource.etags ? { etags: true } : {}
      const { body } = await call('GET', resource.path, { ...options, path: ids, query: { ...query, ...etags } })
      for (const row of body.rows) tagged(row, row.etag)
      return body
    }
    async function* all(query, options) {
      for (let after; ;) {
        const { rows, next } = await list({ limit: 100, ...query, count: false, after }, options)
        yield* rows
        if (!next) return
        after = next
      }
    }
    async function get(id, { expand, signal } = {}) {
      const { body, etag } = await call('GET', `${resource.path}/{}`, { path: [...ids, id], query: { expand }, signal })
      return tagged(body, etag)
    }
    const files = fileFields(resource, ids, send, (path) => base + path)
    const out = { list, all, get, ...writer(resource, ids, send), ...files, ...below(resource, ids, methods) }
    if (resource.changes) out.follow = (options) => follow(`${resource.path}/changes`, ids, options)
    return out
  }

  /** Reports whether an error of a feed will not pass. A function can return another token. */
  const isFinal = (error) => !(error instanceof Problem) || [400, 403, 404].includes(error.status) || (error.status === 401 && typeof token !== 'function')

  /** Follows a feed until the signal aborts or the user signs out. If a user signs in, it begins again: another user sees other records. */
  async function follow(template, path, { signal, onChange, onResync, ...filters }) {
    for (let again = true; again && !signal?.aborted;) {
      again = false
      const stop = new AbortController()
      const end = () => stop.abort()
      const caller = session ? (await session.load())?.user.id : await ownToken().catch(newKey) // a key: of no other tab
      if (signal?.aborted) return
      signal?.addEventListener('abort', end)
      const remove = session?.methods.onChange((user) => {
        if (user?.id === caller) return
        again = !caller
        end()
      })
      const query = { etags: true, ...filters }
      const open = async (position, signal) => {
        const header = { Accept: EVENTS, 'Last-Event-ID': position }
        return (await call('GET', template, { path, query, header, signal, stream: true })).body
      }
      try {
        const name = `${base}${fill(template, path)}${search(query)} of ${await digest(caller)}`
        await followFeed(name, open, isFinal, { onChange, onResync }, stop)
      } finally {
        remove?.()
        signal?.removeEventListener('abort', end)
      }
    }
  }

  /** Calls build with the resources of a batch, and sends the operations. */
  async function batch(build, { signal } = {}) {
    const operations = []
    const add = (method, template, path, { body, etag }) => {
      const operation = { method, path: fill(template, path), ifMatch: etag, body: body && JSON.parse(JSON.stringify(body, escaped)) }
      const name = `operation${operations.push(operation)}`
      return new Proxy({}, {
        get(_, field) {
          if (typeof field !== 'string' || field === 'etag' || field === 'then') return undefined
          operation.name = name
          return new Reference(`$${name}.${field}`)
        },
      })
    }
    const writes = (resource, ids) => ({ ...writer(resource, ids, add), ...below(resource, ids, writes) })
    await build(below({ nested: resources }, [], writes, true))
    const header = { 'Idempotency-Key': newKey() }
    const { body } = await call('POST', '/batch', { header, body: { operations }, signal, safe: true })
    for (const result of body.results) tagged(result.body, result.etag)
    return body.results
  }

  async function request(method, path, { params, body, signal } = {}) {
    const response = await call(method.toUpperCase(), path, { ...params, body, signal })
    return tagged(response.body, response.etag)
  }

  return { ...below({ nested: resources }, [], methods, true), batch, request, ...(session && { session: session.methods }) }
}

/** A replacer of JSON.stringify for the fields of an operation: a string that begins with $ is not a reference. */
function escaped(name, value) {
  return typeof value === 'string' && value.startsWith('$') && !(this[name] instanceof Reference) ? `$${value}` : value
}

/** Returns the resources below a resource: at the root their methods, otherwise a function of the parent's ID. */
function below({ nested = {} }, ids, methods, root) {
  const entries = Object.entries(nested).map(([name, child]) => [name, root ? methods(child, ids) : (id) => methods(child, [...ids, id])])
  return Object.fromEntries(entries)
}

const REFRESH_BEFORE = 30_000 // ms before the token expires, less for a short lifetime
const VISIBLE_AFTER = 100 // ms until other tabs see a change of localStorage, which has no order with Web Locks

/** Returns a storage that lasts as long as the client. */
function memory() {
  const items = new Map()
  return { getItem: (key) => items.get(key), setItem: (key, value) => items.set(key, value), removeItem: (key) => items.delete(key) }
}

/** Returns the state of a session: the tokens and their user. */
function newState({ token, refreshToken, expiresAt, user }) {
  const lifetime = Date.parse(expiresAt) - Date.now()
  // On a machine whose clock is ahead, only the responses with 401 show that a token has expired.
  const refreshAt = lifetime > 0 ? Date.now() + lifetime - Math.min(lifetime / 5, REFRESH_BEFORE) : null
  return { token, refreshToken, refreshAt, user }
}

/** Runs the job in one tab at a time. Without Web Locks, as in pages without TLS, each tab runs its own. */
function alone(name, job) {
  const locks = globalThis.navigator?.locks
  if (!locks) return job()
  return new Promise((resolve, reject) => {
    const locked = async () => {
      await job().then(resolve, reject)
      await pause(VISIBLE_AFTER)
    }
    locks.request(name, locked).catch(reject)
  })
}

/** Creates the session of a client: tokens for its calls, and the methods of api.session. call makes a request. */
function createSession(base, masterKey, shared, call) {
  const storage = shared ?? memory()
  const key = `session of ${base}`
  const listeners = new Set()
  let user = null
  let refreshing

  function parseState(text) {
    let state = null
    try { state = JSON.parse(text ?? 'null') } catch {}
    if (!state?.user) state = null // not of this client
    if (JSON.stringify(state?.user) !== JSON.stringify(user ?? undefined)) {
      user = state?.user ?? null
      for (const listener of listeners) queueMicrotask(() => listener(user)) // its errors are not those of a call
    }
    return state
  }

  async function load() {
    return parseState(await storage.getItem(key))
  }

  async function save(state) {
    const text = JSON.stringify(state)
    await (state ? storage.setItem(key, text) : storage.removeItem(key))
    parseState(text)
  }

  /** Replaces the tokens of a state, unless another call or tab has done so. Resolves to the state, null if the session has ended. */
  async function exchange(old) {
    const state = await load()
    if (state?.refreshToken !== old.refreshToken) return state // two access tokens of a second are the same
    let next = null
    try {
      const body = { refresh_token: state.refreshToken } // valid for another 30 s if the response is lost
      next = newState((await call('POST', '/auth/refresh', { body, anonymous: true, safe: true })).body)
    } catch (problem) {
      if (problem.status !== 401) throw problem
    }
    const current = await load()
    if (current?.refreshToken !== state.refreshToken) return current // signed in or out meanwhile
    await save(next)
    return next
  }

  function refresh(old) {
    refreshing ??= (shared ? alone(key, () => exchange(old)) : exchange(old)).finally(() => { refreshing = undefined })
    return refreshing
  }

  /** Resolves to the state with a token that has not expired, null without a session. */
  async function current() {
    const state = await load()
    return state?.refreshAt && Date.now() >= state.refreshAt ? refresh(state) : state
  }

  /** Makes a request without the session. Resolves to the body. */
  async function send(method, path, options, rest) {
    return (await call(method, path, { ...rest, signal: options?.signal, anonymous: true })).body
  }

  /** Makes the request of a way to sign in. Resolves to the body of the response. */
  async function prove({ email, password, challenge, emailCode, provider, passkey, mediation, ...proof }, options) {
    if (provider) return send('POST', '/auth/{provider}', options, { path: { provider }, body: proof })
    if (passkey) {
      const { challenge, publicKey } = await send('POST', '/auth/passkey/options', options)
      const request = { publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey), mediation, signal: options?.signal }
      const credential = await navigator.credentials.get(request)
      return send('POST', '/auth/passkey', options, { body: { challenge, credential: credential.toJSON() } })
    }
    if (emailCode !== undefined) return send('PUT', '/auth/email-code', options, { body: { challenge, code: emailCode } })
    if (challenge) return send('POST', '/auth/second-factor', options, { body: { challenge, ...proof } })
    if (password === undefined) return send('POST', '/auth/email-code', options, { body: { email } })
    const basic = btoa(String.fromCharCode(...new TextEncoder().encode(`${email}:${password}`)))
    return send('POST', '/auth', options, { header: { Authorization: `Basic ${basic}` }, body: { access_token: masterKey } })
  }

  async function signIn(proof, options) {
    const body = await prove(proof, options)
    if (!body.token) return { challenge: body.challenge } // of the code by email
    await save(newState(body))
    return body.user
  }

  async function signUp(fields, options) {
    const header = { 'Idempotency-Key': newKey() }
    await send('POST', '/users', options, { header, body: fields, safe: true })
    return signIn({ email: fields.email, password: fields.password }, options)
  }

  /** Ends the session, also here if the service is unreachable. */
  async function signOut(options) {
    if (!await load()) return
    try {
      await call('DELETE', '/auth', { signal: options?.signal })
    } catch (problem) {
      if (problem.status !== 401) throw problem
    } finally {
      await save(null)
    }
  }

  function onChange(listener) {
    const entry = (user) => listener(user) // so that each addition can be removed
    listeners.add(entry)
    return () => { listeners.delete(entry) }
  }

  const first = storage.getItem(key)
  if (typeof first?.then === 'function') first.then(parseState).catch(() => {}) // the first call reports the error
  else parseState(first)
  globalThis.addEventListener?.('storage', () => { load().catch(() => {}) }) // of another tab
  return { load, current, refresh, methods: { get user() { return user }, signIn, signUp, signOut, onChange } }
}

const SILENCE = 45_000 // ms without a byte of a stream; the service sends a heartbeat each 15 s
const CHECK = 20_000 // ms between two checks whether the tab that streams still responds

/** Returns the time before the next attempt in ms. */
const backoff = (failures) => Math.min(30_000, 1000 * 2 ** failures) * (0.5 + Math.random() / 2)

/** Parses a block of lines of text/event-stream. */
function parseEvent(block) {
  const { id, event, data } = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)))
  return { id, event, data: data && JSON.parse(data) }
}

/** Yields the events of a stream to its end, which is also a connection that is cut or silent, or an abort. A heartbeat has only an ID. */
async function* readEvents(body, signal) {
  const reader = body.getReader()
  const cancel = () => { reader.cancel().catch(() => {}) }
  signal.addEventListener('abort', cancel)
  let since // when the reader began to wait, undefined while it does not
  const watch = setInterval(() => { if (Date.now() - since > SILENCE) cancel() }, CHECK)
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      since = Date.now()
      const part = await reader.read().catch(() => ({ done: true }))
      since = undefined
      if (part.done || signal.aborted) return
      const blocks = (text + decoder.decode(part.value, { stream: true })).split('\n\n')
      text = blocks.pop()
      yield* blocks.map(parseEvent)
    }
  } finally {
    clearInterval(watch)
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

/**
 * Follows a feed until stop aborts, or rejects. open makes the request of the stream after a position. isFinal reports whether an error will not
 * pass. Of all tabs with the same name, the one that has the lock streams, and sends each event to the others, with the position before it.
 */
async function followFeed(name, open, isFinal, { onChange, onResync }, stop) {
  const { signal } = stop
  const locks = globalThis.navigator?.locks
  const channel = locks && globalThis.BroadcastChannel ? new BroadcastChannel(name) : undefined
  let position // of the last event that was received; undefined: the next one is the begin, or follows unknown ones
  let failure
  let leading = false
  let silent = 0 // checks since the last message of another tab
  let last = Promise.resolve() // of the calls of onChange and onResync, which follow each other

  const fail = (error) => {
    if (signal.aborted) return
    failure = { error }
    stop.abort()
  }
  const queue = (job) => { last = last.then(() => signal.aborted || job()).catch(fail) }

  async function resync() {
    for (let failures = 0; ; failures++) {
      try {
        return await onResync()
      } catch (error) {
        if (isFinal(error)) throw error
      }
      await pause(backoff(failures), signal)
    }
  }

  /** Receives an event: at the position from, if nothing is missing. */
  function receive({ from, id, event, data }) {
    if (!id) return
    const unknown = !position || event === 'ready' || event === 'resync'
    if (!unknown && (id === position || (!event && from !== position))) return // received from another tab; the position of another tab
    const missed = unknown || from !== position
    position = id
    if (missed) queue(resync)
    else if (event) queue(() => onChange({ event, data: tagged(data, data.etag) }))
  }

  /** Streams until the signal aborts. */
  async function lead(signal) {
    leading = true
    channel?.postMessage({ from: position, id: position })
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        for await (const { id, event, data } of readEvents(await open(position, signal), signal)) {
          failures = 0
          if (event === 'end') {
            if (data.code === 'forbidden') position = undefined // the role of the user has changed: other records are visible
            break
          }
          const message = { from: position, id, event, data }
          channel?.postMessage(message)
          receive(message)
          await unlessAborted(last, signal)
        }
      } catch (error) {
        if (signal.aborted) return
        if (isFinal(error)) throw error
      }
      await pause(backoff(failures), signal).catch(() => {})
    }
  }

  /** Waits until this tab has the lock, and streams. If another tab steals the lock, waits again. */
  async function elect(options) {
    const turn = new AbortController()
    try {
      await locks.request(name, options, () => lead(AbortSignal.any([signal, turn.signal])))
    } catch (error) {
      leading = false
      turn.abort()
      if (signal.aborted || error.name !== 'AbortError') return fail(error)
      await elect({ signal })
    }
  }

  if (!channel) {
    await lead(signal).catch(fail)
  } else {
    channel.onmessage = ({ data: message }) => {
      silent = 0
      if (!message.ask) receive(message)
      else if (leading) channel.postMessage({ from: position, id: position })
    }
    channel.postMessage({ ask: true })
    const watch = setInterval(() => {
      if (leading) return
      if (++silent > 2) elect({ steal: true }) // a phone can suspend the tab that has the lock
      else if (silent > 1) channel.postMessage({ ask: true })
    }, CHECK)
    await elect({ signal })
    clearInterval(watch)
    channel.close()
  }
  if (failure) throw failure.error
}

/** Returns a fetch that reports the progress of the upload. XMLHttpRequest follows redirects, but its last address shows them. */
function uploader(onProgress) {
  return async (url, { method, headers, body, signal }) => {
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    request.open(method, url)
    for (const [name, value] of headers) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress({ loaded, total })
    const ended = new Promise((resolve) => { request.onloadend = resolve })
    signal?.addEventListener('abort', abort)
    request.send(body)
    await ended
    signal?.removeEventListener('abort', abort)
    const { status, responseURL, response } = request
    if (!status) throw new TypeError('the connection was cut') // or aborted
    const lines = request.getAllResponseHeaders().match(/^.+: .*$/gm) ?? []
    const out = new Response(status === 204 ? null : response, { status, headers: lines.map((line) => line.split(/: (.*)/s, 2)) })
    return responseURL === new URL(url, location.href).href ? out : { type: 'opaqueredirect', headers: out.headers }
  }
}

/** Returns the properties of a resource for its fields with files. send makes a request; address returns the URL of a path. */
function fileFields({ path, files = {} }, ids, send, address) {
  const fields = Object.entries(files).map(([name, { list }]) => {
    const all = `${path}/{}/${name}`
    const one = list ? `${all}/{}` : all
    const upload = async (target, blob, options) => {
      const rest = { query: { filename: blob.name }, blob, etag: target?.etag, safe: !list }
      return send(list ? 'POST' : 'PUT', all, [...ids, target], { ...options, ...rest })
    }
    // The last argument is the options; a list has the file before it.
    const split = (args) => [[...ids, ...args.slice(0, list ? 2 : 1)], args[list ? 2 : 1]]
    return [name, {
      upload,
      link(...args) {
        const [path, { expiresIn, signal } = {}] = split(args)
        return send('POST', `${one}/link`, path, { body: { expiresIn }, signal })
      },
      delete(...args) {
        const [path, options] = split(args)
        return send('DELETE', one, path, { ...options, etag: args[0]?.etag })
      },
      url: (...args) => address(fill(one, split(args)[0])),
    }]
  })
  return Object.fromEntries(fields)
}

const resources = {
  articles: { path: '/articles', etags: true, idempotent: true, changes: true },
  organizations: { path: '/organizations', etags: true, idempotent: true },
  policies: { path: '/policies', etags: true, idempotent: true },
  users: { path: '/users', etags: true, idempotent: true },
}

const masterOnly = [
  'POST /auth/email-code',
  'POST /auth/passkey/options',
  'POST /password-resets',
  'POST /users',
]

const downloads = [
  'GET /users/{}/picture',
]

const sessions = true
