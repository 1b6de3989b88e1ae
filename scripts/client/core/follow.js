
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
