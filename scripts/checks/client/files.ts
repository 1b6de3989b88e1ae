import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type UploadOptions, createClient } from 'ginseng-client'
import type { Service } from './service.js'

/** A request that the client made. */
interface Sent { call: string; type: string | null; match: string | null; key: string | null; body: string }

/** Tests the methods of fields with files, with the running service and with one that records the requests. */
export async function run(service: Service) {
  await test('files of the service', () => stored(service))
  await test('files', () => uploads())
  await test('files whose response is lost', () => lost())
  await test('files with XMLHttpRequest', () => viaRequest())
}

async function stored({ address: url }: Service) {
  const api = createClient({ url })
  await api.session.signUp({ email: 'rosalind@example.com', password: 'analytical engine' })
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
  const maker = await api.makers.create({ name: 'With files' })
  const loaded: number[] = []
  const shown = await api.makers.photo.upload(maker, new File([png], 'Über.png'), { onProgress: (progress) => loaded.push(progress.loaded) })
  assert.deepEqual([loaded, shown.photo?.name, shown.photo?.width], [[png.length], 'Über.png', 1])
  await assert.rejects(api.makers.photo.upload(maker, new Blob([png])), { status: 412 })
  const bytes = await api.request('GET', '/makers/{id}/photo', { params: { path: { id: maker.id } } })
  assert.deepEqual(Buffer.from(await bytes.arrayBuffer()), png)
  const link = await api.makers.photo.link(maker)
  const linked = async () => (await fetch(link.url.replace('https://api.example.com', url))).status
  assert.equal(await linked(), 200)
  const replaced = await api.makers.photo.upload(shown, new File([png], 'other.png'))
  assert.deepEqual([replaced.photo?.name, await linked()], ['other.png', 404])

  const one = await api.makers.papers.upload(replaced, new File(['one'], 'one.txt'))
  const two = await api.makers.papers.upload(one, new Blob(['two']))
  assert.deepEqual(two.papers.map(({ name }) => name), ['one.txt', 'papers.txt'])
  await api.makers.papers.delete(two, two.papers[0] ?? '')
  await api.makers.photo.delete(maker.id)
  const stop = new AbortController()
  const reason = new Error('enough')
  const slow = createClient({ url, fetch: (input, init) => fetch(input, init?.body instanceof Blob ? { ...init, body: half(init.body, () => stop.abort(reason)), duplex: 'half' } as RequestInit : init) })
  await slow.session.signIn({ email: 'rosalind@example.com', password: 'analytical engine' })
  await assert.rejects(slow.makers.papers.upload(maker.id, new Blob(['three']), { signal: stop.signal }), reason)
  const left = await api.makers.get(maker.id)
  assert.deepEqual([left.photo, left.papers.map(({ id }) => id)], [null, [two.papers[1]?.id]])
  await assert.rejects(api.makers.photo.upload(maker.id, new Blob(['text'], { type: 'image/png' })), { status: 400 })
}

/** Returns a body that begins with the file, and calls then instead of its end. */
const half = (file: Blob, then: () => void) => new ReadableStream({
  async start(controller) { controller.enqueue(new Uint8Array(await file.arrayBuffer())) },
  pull: then,
})

/** A request that stored or deleted a file has changed the ETag: 412 of its repetition does not mean that somebody else has changed the record. */
async function lost() {
  const changed = { status: 412, code: 'precondition_failed' }
  for (const [first, want] of [['cut', { status: 0, code: 'network' }], ['later', changed]] as const) {
    let n = 0
    const api = createClient({ url: 'http://service', token: 'token', fetch: async () => {
      if (n++ === 0) return Response.json({ id: 'a' }, { headers: { ETag: '"1"' } })
      if (n % 2) return Response.json(changed, { status: 412, headers: { 'Content-Type': 'application/problem+json' } })
      if (first === 'cut') throw new TypeError('cut')
      return new Response('', { status: 503, headers: { 'Retry-After': '0' } })
    } })
    const maker = await api.makers.get('a')
    await assert.rejects(api.makers.photo.upload(maker, new Blob(['x'])), want)
    await assert.rejects(api.makers.photo.delete(maker), want)
    await assert.rejects(api.makers.papers.delete(maker, 'f'), want)
    assert.equal(n, 7)
  }
}

/** Returns a client whose requests are recorded. The first ones of failures are cut. */
function recorded(failures = 0) {
  const sent: Sent[] = []
  const api = createClient({ url: 'http://service', token: 'token', fetch: async (url, init) => {
    const headers = new Headers(init?.headers)
    const path = String(url).replace('http://service', '')
    const body = await new Response(init?.body as BodyInit | undefined).text()
    sent.push({ call: `${init?.method} ${path}`, type: headers.get('Content-Type'), match: headers.get('If-Match'), key: headers.get('Idempotency-Key'), body })
    if (failures-- > 0) throw new TypeError('cut')
    if (init?.method === 'GET') return new Response('<p>bytes</p>', { headers: { 'Content-Type': 'text/html' } })
    if (init?.method === 'DELETE') return new Response(null, { status: 204 })
    return Response.json(path.endsWith('/link') ? { url: 'u', expiresAt: 't' } : { id: 'a' }, { headers: { ETag: '"2"' } })
  } })
  return { api, sent }
}

async function uploads() {
  const { api, sent } = recorded(1)
  const file = new File(['bytes'], 'Über.png', { type: 'image/png' })
  const progress: unknown[] = []
  const maker = await api.makers.photo.upload('a', file, { onProgress: (p) => progress.push(p) })
  assert.deepEqual(progress, [{ loaded: 5, total: 5 }])
  await api.makers.photo.upload(maker, new Blob(['form'], { type: 'multipart/form-data; boundary=a' }))
  await api.makers.papers.upload('a', new Blob(['one']))
  await api.makers.photo.delete(maker)
  await api.makers.papers.delete(maker, { id: 'f' })
  await api.makers.papers.delete('a', 'f')
  const bytes: Blob = await api.request('GET', '/makers/{id}/papers/{fileId}', { params: { path: { id: 'a', fileId: 'f' } } })
  assert.deepEqual([await bytes.text(), bytes.type], ['<p>bytes</p>', 'text/html'])
  await assert.rejects(api.makers.photo.upload('a', undefined as unknown as Blob), TypeError)
  assert.deepEqual(await api.makers.photo.link('a'), { url: 'u', expiresAt: 't' })
  await api.makers.papers.link('a', 'f', { expiresIn: 60 })
  assert.deepEqual([api.makers.photo.url(maker), api.makers.papers.url('a', 'f/g')], ['http://service/makers/a/photo', 'http://service/makers/a/papers/f%2Fg'])
  const none = { match: null, key: null }, raw = 'application/octet-stream', sentFile = { call: 'PUT /makers/a/photo?filename=%C3%9Cber.png', type: 'image/png', body: 'bytes', ...none }
  assert.deepEqual(sent, [
    sentFile, sentFile, // repeated
    { call: 'PUT /makers/a/photo', type: raw, match: '"2"', key: null, body: 'form' },
    { call: 'POST /makers/a/papers', type: raw, ...none, body: 'one' },
    { call: 'DELETE /makers/a/photo', type: null, match: '"2"', key: null, body: '' },
    { call: 'DELETE /makers/a/papers/f', type: null, match: '"2"', key: null, body: '' },
    { call: 'DELETE /makers/a/papers/f', type: null, ...none, body: '' },
    { call: 'GET /makers/a/papers/f', type: null, ...none, body: '' },
    { call: 'POST /makers/a/photo/link', type: 'application/json', ...none, body: '{}' },
    { call: 'POST /makers/a/papers/f/link', type: 'application/json', ...none, body: '{"expiresIn":60}' },
  ])
}

/** An XMLHttpRequest whose first upload is cut, and whose last one is redirected. */
class FakeRequest {
  static requests: FakeRequest[] = []
  upload: { onprogress?: (event: { loaded: number; total: number }) => void } = {}
  headers: [string, string][] = []
  status = 0
  responseURL = ''
  response = ''
  aborted = false
  onloadend = () => {}
  address = ''

  open(_: string, address: string) { this.address = address }
  setRequestHeader(name: string, value: string) { this.headers.push([name, value]) }
  getAllResponseHeaders() { return this.status === 502 ? 'x-empty:\r\n' : 'content-type: application/json\r\netag: "3"\r\n' }
  abort() {
    this.aborted = true
    this.onloadend()
  }

  send(body: Blob) {
    const n = FakeRequest.requests.push(this)
    if (body.size === 0) return // hangs
    queueMicrotask(() => {
      if (body.size === 3) {
        Object.assign(this, { status: 502, responseURL: this.address })
        return this.onloadend()
      }
      for (const loaded of [1, body.size]) this.upload.onprogress?.({ loaded, total: body.size })
      if (n > 1) Object.assign(this, { status: 200, responseURL: n > 2 ? 'http://other/' : this.address, response: '{"id":"a"}' })
      this.onloadend()
    })
  }
}

async function viaRequest() {
  const globals = globalThis as { XMLHttpRequest?: unknown; location?: unknown }
  globals.XMLHttpRequest = FakeRequest
  globals.location = { href: 'http://service/page' }
  try {
    const api = createClient({ url: 'http://service', token: 'token' })
    const loaded: number[] = []
    const options: UploadOptions = { onProgress: (progress) => loaded.push(progress.loaded) }
    const maker = await api.makers.photo.upload('a', new Blob(['bytes'], { type: 'image/png' }), options)
    assert.equal((maker as { etag?: string }).etag, '"3"')
    assert.deepEqual(loaded, [1, 5, 1, 5])
    assert.deepEqual(FakeRequest.requests[1]?.headers.sort(), [['authorization', 'Bearer token'], ['content-type', 'image/png']])
    await assert.rejects(api.makers.photo.upload('a', new Blob(['x']), options), { status: 0, detail: /redirect/ })
    await assert.rejects(api.makers.photo.upload('a', new Blob(['502']), options), { status: 502 })
    const controller = new AbortController()
    const reason = new Error('enough')
    const upload = assert.rejects(api.makers.photo.upload('a', new Blob([]), { ...options, signal: controller.signal }), reason)
    while (FakeRequest.requests.length < 5) await new Promise(setImmediate)
    controller.abort(reason)
    await upload
    assert.ok(FakeRequest.requests[4]?.aborted)
  } finally {
    delete globals.XMLHttpRequest
    delete globals.location
  }
}
