import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import * as client from 'ginseng-client'

/** Tests follow of the generated client with streams whose bytes the test decides. */
export async function run() {
  await test('positions', () => positions())
  await test('silent connections', () => silent())
  await test('messages of another tab', () => messages())
}

/** A follower of a feed, its calls in order, and the streams that it has opened: the position of each, and what writes to it. */
class Follower {
  calls: string[] = []
  streams: { position: string | null; write(text: string | Uint8Array): void; end(): void; closed: boolean }[] = []
  stop = new AbortController()
  followed: Promise<void>
  change = async () => {}

  constructor({ createClient }: typeof client) {
    const api = createClient({ url: 'http://service', token: 'token', fetch: async (_, init) => this.open(new Headers(init?.headers)) })
    const onChange = ({ event, data }: client.Change<client.Records['article']>) => {
      this.calls.push(`${event} ${data.id}`)
      return this.change()
    }
    this.followed = api.articles.follow({ signal: this.stop.signal, onChange, onResync: () => this.calls.push('list') })
  }

  open(headers: Headers) {
    let stream: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream({
      start(controller) { stream = controller },
      cancel: () => { opened.closed = true },
    })
    const opened = { position: headers.get('Last-Event-ID'), closed: false, write: (text: string | Uint8Array) => stream.enqueue(typeof text === 'string' ? new TextEncoder().encode(text) : text), end: () => stream.close() }
    this.streams.push(opened)
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
  }

  /** Resolves to the n-th stream. */
  async stream(n: number) {
    await until(() => this.streams.length === n)
    return this.streams[n - 1]!
  }
}

async function until(check: () => boolean) {
  for (const end = Date.now() + 20_000; !check(); await new Promise((resolve) => setTimeout(resolve, 5))) assert.ok(Date.now() < end, `timeout: ${check}`)
}

const event = (id: string, type: string, data: object) => `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`

/** After each end of a stream, the next one begins at the last position; after an end because of the rights of the user, it begins now. */
async function positions() {
  const follower = new Follower(client)
  const first = await follower.stream(1)
  const bytes = new TextEncoder().encode(event('p1', 'ready', {}) + event('p2', 'created', { id: 'ü', code: 'forbidden' }))
  const middle = bytes.indexOf(0xc3) + 1 // of the letter
  first.write(bytes.subarray(0, middle))
  first.write(bytes.subarray(middle))
  first.write('id: p3\n\n') // a heartbeat
  first.write(event('p4', 'updated', { id: 'lost' }).slice(0, -1))
  first.end()
  const second = await follower.stream(2)
  second.write(event('p4', 'updated', { id: 'b' }) + event('p4', 'end', { code: 'unauthorized' }))
  const third = await follower.stream(3)
  third.write('retry: 1000\n\n')
  third.end()
  const fourth = await follower.stream(4)
  fourth.write(event('p5', 'deleted', { id: 'c' }) + event('p5', 'end', { code: 'forbidden' }))
  const fifth = await follower.stream(5)
  fifth.write(event('q1', 'ready', {}) + event('q2', 'created', { id: 'd' }) + event('q3', 'resync', {}) + event('q4', 'created', { id: 'e' }))
  await until(() => follower.calls.length === 8)
  assert.deepEqual(follower.calls, ['list', 'created ü', 'updated b', 'deleted c', 'list', 'created d', 'list', 'created e'])
  assert.deepEqual(follower.streams.map(({ position }) => position), [null, 'p3', 'p4', 'p4', null])
  follower.stop.abort()
  await follower.followed
  assert.ok(fifth.closed)
}

/** Returns the client with other constants. */
async function withConstants(values: Record<string, number>, job: (module: typeof client) => Promise<void>) {
  let code = readFileSync(new URL('../generated/index.js', import.meta.url), 'utf8')
  for (const [name, value] of Object.entries(values)) {
    const before = code
    code = code.replace(new RegExp(`^const ${name} = [\\d_]+`, 'm'), `const ${name} = ${value}`)
    assert.notEqual(code, before, name)
  }
  const dir = mkdtempSync(join(tmpdir(), 'feed-'))
  try {
    writeFileSync(join(dir, 'index.mjs'), code)
    await job(await import(pathToFileURL(join(dir, 'index.mjs')).href) as typeof client)
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** A connection without bytes is replaced. One with heartbeats is not, nor is one whose bytes wait for onChange. */
async function silent() {
  const { getActiveResourcesInfo } = process as unknown as { getActiveResourcesInfo(): string[] } // Node.js 17.3
  const timers = () => getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  await withConstants({ SILENCE: 500, CHECK: 50 }, async (module) => {
    const follower = new Follower(module)
    const first = await follower.stream(1)
    first.write(event('p1', 'ready', {}))
    const second = await follower.stream(2)
    assert.ok(first.closed)
    assert.equal(second.position, 'p1')
    let end = () => {}
    follower.change = () => new Promise((resolve) => { end = resolve })
    second.write(event('p2', 'created', { id: 'a' }))
    await until(() => follower.calls.length === 2)
    await new Promise((resolve) => setTimeout(resolve, 1000)) // twice the time
    end()
    for (let i = 0; i < 10; i++) {
      second.write(`id: h${i}\n\n`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    assert.equal(follower.streams.length, 2)
    follower.stop.abort()
    await follower.followed
    assert.ok(second.closed)
  })
  assert.equal(timers(), before)
}

/** Locks of a browser in which another tab has the lock, until the test gives or takes it. */
class Locks {
  name = ''
  requests: { options: { steal?: boolean; signal?: AbortSignal }; give(): void; take(): void }[] = []
  request(name: string, options: { steal?: boolean; signal?: AbortSignal }, job: () => Promise<void>) {
    this.name = name
    return new Promise<void>((resolve, reject) => {
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason))
      const take = () => reject(new DOMException('stolen', 'AbortError'))
      this.requests.push({ options, give: () => job().then(resolve, reject), take })
    })
  }
}

/** A tab that does not stream receives each event once, lists if it has missed one, and takes over from a tab that does not respond. */
async function messages() {
  const locks = new Locks()
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator') ?? { value: undefined, configurable: true }
  Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true })
  try {
    await withConstants({ CHECK: 1000 }, async (module) => {
      const first = new Follower(module)
      await until(() => locks.requests.length === 1)
      first.stop.abort()
      await first.followed
      locks.requests = []
      const other = new BroadcastChannel(locks.name)
      const received: unknown[] = []
      other.onmessage = (message) => received.push((message as { data: unknown }).data)
      const follower = new Follower(module)
      try {
        await until(() => received.length === 1)
        assert.deepEqual(received.splice(0), [{ ask: true }])
        await receives(follower, other)
        await takesOver(follower, other, received, locks)
        await ends(follower, other)
      } finally {
        other.close()
        follower.stop.abort()
      }
    })
  } finally {
    Object.defineProperty(globalThis, 'navigator', before)
  }
}

const send = (other: BroadcastChannel, from: string, id: string, record: string) => other.postMessage({ from, id, event: 'created', data: { id: record } })

/** After the abort, a change that waits is not received. */
async function ends(follower: Follower, other: BroadcastChannel) {
  let end = () => {}
  follower.change = () => new Promise((resolve) => { end = resolve })
  send(other, 'p8', 'p9', 'f')
  send(other, 'p9', 'p10', 'g')
  await until(() => follower.calls.at(-1) === 'created f')
  follower.stop.abort()
  await follower.followed
  end()
  await new Promise(setImmediate)
  assert.equal(follower.calls.at(-1), 'created f')
}

async function receives(follower: Follower, other: BroadcastChannel) {
  const change = (from: string, id: string, record: string) => send(other, from, id, record)
  other.postMessage({ from: undefined, id: undefined }) // the other tab has no position yet
  other.postMessage({ from: 'p1', id: 'p1' })
  change('p1', 'p2', 'a')
  change('p1', 'p2', 'a') // again, from a tab that took over
  other.postMessage({ from: 'p1', id: 'p1' }) // that tab
  other.postMessage({ from: 'p2', id: 'p3' }) // a heartbeat
  change('p3', 'p4', 'b')
  change('p5', 'p6', 'c')
  change('p6', 'p7', 'd')
  await until(() => follower.calls.length === 5)
  assert.deepEqual(follower.calls, ['list', 'created a', 'created b', 'list', 'created d'])
}

async function takesOver(follower: Follower, other: BroadcastChannel, received: unknown[], locks: Locks) {
  const asked = () => received.splice(0).length > 0
  for (let i = 0; i < 2; i++) {
    await until(asked)
    other.postMessage({ from: 'p7', id: 'p7' })
  }
  assert.equal(locks.requests.length, 1) // the other tab responds
  await until(() => locks.requests.length === 2)
  const [, stolen] = locks.requests
  assert.equal(stolen?.options.steal, true)
  received.length = 0
  stolen.give()
  const stream = await follower.stream(1)
  assert.equal(stream.position, 'p7')
  await until(() => received.length === 1)
  assert.deepEqual(received, [{ from: 'p7', id: 'p7' }])
  stream.write(event('p8', 'created', { id: 'e' }))
  await until(() => follower.calls.at(-1) === 'created e')
  other.postMessage({ ask: true })
  await until(() => received.length === 3)
  assert.deepEqual(received.slice(1), [{ from: 'p7', id: 'p8', event: 'created', data: { id: 'e' } }, { from: 'p8', id: 'p8' }])
  stolen.take() // by a third tab
  await until(() => stream.closed && locks.requests.length === 3)
  assert.equal(locks.requests[2]?.options.steal, undefined)
}
