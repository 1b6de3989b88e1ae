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
}

/** A follower of a feed, its calls in order, and the streams that it has opened: the position of each, and what writes to it. */
class Follower {
  calls: string[] = []
  streams: { position: string | null; write(text: string): void; end(): void; closed: boolean }[] = []
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
    const opened = { position: headers.get('Last-Event-ID'), closed: false, write: (text: string) => stream.enqueue(new TextEncoder().encode(text)), end: () => stream.close() }
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
  const created = event('p2', 'created', { id: 'a', title: 'ü', code: 'forbidden' })
  first.write(event('p1', 'ready', {}) + created.slice(0, 40)) // an event in two parts
  first.write(created.slice(40))
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
  assert.deepEqual(follower.calls, ['list', 'created a', 'updated b', 'deleted c', 'list', 'created d', 'list', 'created e'])
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
