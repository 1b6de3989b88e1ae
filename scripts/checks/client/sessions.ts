import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SessionClient, type SessionStorage, createClient } from 'ginseng-client'
import type { Service } from './service.js'
import * as guide from './guide/sign-in.js'
import { type Proxy, withProxy } from './faults.js'

const password = 'analytical engine'

/** A storage of several clients, as localStorage is that of several tabs. Its methods are asynchronous. */
class Shared implements SessionStorage {
  text: string | undefined
  async getItem() { return this.text }
  async setItem(_: string, value: string) { this.text = value }
  async removeItem() { this.text = undefined }
  /** Changes the stored state, as time or another tab does. */
  change(values: object) {
    this.text = JSON.stringify({ ...JSON.parse(this.text ?? ''), ...values })
  }
}

const expired = { refreshAt: 1 }
const invalid = { token: 'invalid' }

/** Tests api.session of the generated client with the running service. */
export async function run(service: Service) {
  await test('sign up, in and out', () => signing(service))
  await test('sign out while offline', () => leaving(service))
  await test('a storage that fails', () => brokenStorage(service))
  await test('other ways to sign in', () => ways(service))
  await withProxy(service.address, async (proxy) => {
    await test('refresh', () => refreshes(proxy))
    await test('refresh of several tabs', () => tabs(proxy))
    await test('sign up without a response', () => signUpAgain(proxy))
    await test('sessions that change meanwhile', () => meanwhile(service, proxy))
  })
}

async function signing({ address, masterKey, totp }: Service) {
  const items = new Map<string, string>()
  const storage = { // as localStorage
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => { items.set(key, value) },
    removeItem: (key: string) => { items.delete(key) },
  }
  const api = createClient({ url: address, storage })
  const seen: (string | undefined)[] = []
  const remove = api.session.onChange((user) => seen.push(user?.email))
  assert.equal(userOf(api), null)
  const user = await api.session.signUp({ email: 'hedy@example.com', password })
  assert.deepEqual([user.email, userOf(api)?.id], ['hedy@example.com', user.id])
  assert.equal((await api.articles.create({ title: 'Hopping' })).userId, user.id)
  await assert.rejects(api.session.signUp({ email: 'hedy@example.com', password }), { status: 409, code: 'conflict' })
  await assert.rejects(api.session.signIn({ email: 'hedy@example.com', password: 'wrong' }), { status: 401, code: 'unauthorized' })
  assert.equal(userOf(api)?.id, user.id)
  assert.equal(createClient({ url: address, storage }).session.user?.id, user.id) // after a reload

  await api.session.signOut()
  assert.deepEqual([userOf(api), items.size], [null, 0])
  await assert.rejects(api.request('GET', '/users/me'), { status: 401 })
  await api.session.signOut() // without a session
  remove()
  await api.session.signIn({ email: 'hedy@example.com', password })
  assert.deepEqual(seen, ['hedy@example.com', undefined])
  assert.equal((await api.request('GET', '/users/me')).id, user.id)
  for (const text of ['{', 'true', '{"refreshAt":1}']) {
    items.set([...items.keys()][0] ?? '', text)
    await assert.rejects(api.request('GET', '/users/me'), { status: 401 }) // not of the client: as if there was none
  }

  const bodies: unknown[] = []
  const server = createClient({ url: address, masterKey, fetch: (url, init) => (bodies.push(init?.body), fetch(url, init)) })
  await server.session.signIn({ email: 'hedy@example.com', password })
  assert.deepEqual(bodies, [JSON.stringify({ access_token: masterKey })])
  const { secret } = await server.request('POST', '/users/me/two-factor', { body: {} })
  await server.request('PUT', '/users/me/two-factor', { body: { code: totp(secret) } })
  const asking = guide.start(address)
  assert.equal((await guide.signIn(asking, 'hedy@example.com', password, async () => totp(secret, 1))).id, user.id)
  await assert.rejects(guide.signIn(asking, 'hedy@example.com', 'wrong', async () => ''), { status: 401 })
}

/** The user is created once, and signed in. */
async function signUpAgain(proxy: Proxy) {
  proxy.faults = ['lose response', 'pass']
  const api = createClient({ url: proxy.address })
  assert.equal((await api.session.signUp({ email: 'mary@example.com', password })).email, 'mary@example.com')
  assert.equal(userOf(api)?.email, 'mary@example.com')
}

async function leaving({ address }: Service) {
  const gone = createClient({ url: address, fetch: (url, init) => (init?.method === 'DELETE' ? Promise.reject(new Error('offline')) : fetch(url, init)) })
  await gone.session.signUp({ email: 'annie@example.com', password })
  await assert.rejects(gone.session.signOut(), { status: 0, code: 'network' })
  assert.equal(gone.session.user, null)
}

async function ways(service: Service) {
  const api = createClient({ url: service.address })
  const { session } = api
  const email = 'joan@example.com'
  await session.signUp({ email, password: 'naval treaty' })
  await session.signOut()
  const { challenge } = await session.signIn({ email })
  const [, emailCode = ''] = await service.said(/joan[^]*^Code: (\d{6})$/m)
  await assert.rejects(session.signIn({ challenge, emailCode: emailCode === '000000' ? '000001' : '000000' }), { status: 400 })
  assert.equal(userOf(api), null)
  assert.equal((await session.signIn({ challenge, emailCode })).emailVerified, true)

  const { secret } = await api.request('POST', '/users/me/two-factor', { body: {} })
  const { recoveryCodes: [recovery = ''] } = await api.request('PUT', '/users/me/two-factor', { body: { code: service.totp(secret) } })
  await session.signOut()
  const again = await session.signIn({ email })
  const [, newer = ''] = await service.said(/joan[^]*^Code: \d{6}$[^]*^Code: (\d{6})$/m)
  const required = await session.signIn({ challenge: again.challenge, emailCode: newer }).catch((problem: unknown) => problem)
  assert.ok(required instanceof Error && 'code' in required && 'challenge' in required)
  assert.deepEqual([required.code, userOf(api)], ['second_factor_required', null])
  assert.equal((await session.signIn({ challenge: String(required.challenge), recovery_code: recovery })).email, email)

  await assert.rejects(session.signIn({ provider: 'google', id_token: 'token' }), { status: 404 }) // not configured
  assert.equal(userOf(api)?.email, email)
}

/** The first call reports the error of a storage. It is not an unhandled rejection, which would fail the test. */
async function brokenStorage({ address }: Service) {
  const storage = new Shared()
  storage.getItem = () => Promise.reject(new Error('no storage'))
  await assert.rejects(me(createClient({ url: address, storage })), { message: 'no storage' })
}

/** Creates clients with the same session, each with its storage in the given one. */
async function signedIn(proxy: Proxy, email: string, storage: Shared, clients: number) {
  proxy.faults = ['pass']
  const [first, ...others] = Array.from({ length: clients }, () => createClient({ url: proxy.address, storage }))
  assert.ok(first)
  await first.session.signUp({ email, password })
  proxy.received()
  return [first, ...others]
}

const userOf = (api: SessionClient) => api.session.user
const me = (api: SessionClient) => api.request('GET', '/users/me')
const refreshesOf = (proxy: Proxy) => proxy.received().filter(({ call }) => call === 'POST /auth/refresh').length

async function refreshes(proxy: Proxy) {
  const storage = new Shared()
  const [api] = await signedIn(proxy, 'karen@example.com', storage, 1)
  assert.ok(api)
  for (const change of [expired, invalid]) {
    storage.change(change)
    const ids: string[] = await Promise.all(Array.from({ length: 10 }, async (): Promise<string> => (await me(api)).id))
    assert.equal(new Set(ids).size, 1)
    assert.equal(refreshesOf(proxy), 1, JSON.stringify(change))
  }
  storage.change(invalid)
  assert.equal((await api.articles.create({ title: 'After a refresh' })).title, 'After a refresh')
  for (const fault of ['lose response', 'cut', 'cut in response'] as const) { // the previous token is valid for another 30 s
    storage.change(expired)
    proxy.faults = [fault, 'pass']
    proxy.received()
    await me(api)
    assert.equal(refreshesOf(proxy), 2, fault)
  }
  // A clock that is ahead: every expiry seems to have passed.
  const ahead = createClient({ url: proxy.address, fetch: async (url, init) => {
    const response = await fetch(url, init)
    const body = await response.text()
    return new Response(body.replace(/"expiresAt":"\d+/, '"expiresAt":"2001'), response)
  } })
  await ahead.session.signIn({ email: 'karen@example.com', password })
  await me(ahead)
  await me(ahead)
  assert.equal(refreshesOf(proxy), 0)
}

async function tabs(proxy: Proxy) {
  const storage = new Shared()
  const clients = await signedIn(proxy, 'radia@example.com', storage, 5)
  storage.change(expired)
  await Promise.all(clients.map(me)) // without Web Locks each refreshes, and receives the same tokens
  await Promise.all(clients.map(me))
  let last: Promise<unknown> = Promise.resolve()
  const locks = { request: <T>(_: string, job: () => Promise<T>) => {
    const next = last.then(job)
    last = next.catch(() => {})
    return next
  } }
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator') ?? { value: undefined, configurable: true }
  Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true })
  try {
    proxy.received()
    storage.change(expired)
    await Promise.all(clients.map(me))
    assert.equal(refreshesOf(proxy), 1)
  } finally {
    Object.defineProperty(globalThis, 'navigator', before)
  }
}

async function meanwhile({ address }: Service, proxy: Proxy) {
  const storage = new Shared()
  const [api, other] = await signedIn(proxy, 'grete@example.com', storage, 2)
  assert.ok(api && other)
  const users: unknown[] = []
  other.session.onChange((user) => users.push(user))

  // One caller aborts: the others still get the new token.
  let open = () => {}
  const gate = new Promise<void>((resolve) => { open = resolve })
  const waiting = createClient({ url: address, storage, fetch: async (url, init) => (await gate, fetch(url, init)) })
  storage.change(expired)
  const controller = new AbortController()
  const reason = new Error('enough')
  const first = waiting.request('GET', '/users/me', { signal: controller.signal })
  const second = me(waiting)
  controller.abort(reason)
  await assert.rejects(first, reason)
  open()
  await second

  // Another user signs in in another tab while a call is rejected: the call is not repeated as that user.
  const strange = new Shared()
  await signedIn(proxy, 'sister@example.com', strange, 1)
  const swapped = (path: string, text: string | undefined): typeof fetch => async (url, init) => {
    const response = await fetch(url, init)
    if (String(url).endsWith(path)) storage.text = text
    return response
  }
  const own = storage.text
  storage.change(invalid)
  const late = createClient({ url: address, storage, fetch: swapped('/articles', strange.text) })
  await assert.rejects(late.articles.create({ title: 'Whose?' }), { status: 401 })
  assert.equal(storage.text, strange.text)

  // Nor is it repeated as that user after 503.
  storage.text = own
  proxy.faults = [{ status: 503, headers: { 'Retry-After': '0' } }, 'pass']
  const repeating = createClient({ url: proxy.address, storage, fetch: swapped('/articles', strange.text) })
  await assert.rejects(repeating.articles.create({ title: 'Whose?' }), { status: 503 })

  // The user signs out during a refresh: the new tokens are dropped.
  storage.text = own
  storage.change(expired)
  const leaving = createClient({ url: address, storage, fetch: swapped('/auth/refresh', undefined) })
  await assert.rejects(me(leaving), { status: 401 })
  assert.equal(storage.text, undefined)

  // The session is ended elsewhere.
  await other.session.signIn({ email: 'grete@example.com', password })
  const elsewhere = createClient({ url: address })
  await elsewhere.session.signIn({ email: 'grete@example.com', password })
  await elsewhere.request('DELETE', '/auth/sessions')
  await assert.rejects(me(other), { status: 401, code: 'unauthorized' })
  assert.deepEqual([other.session.user, storage.text, users.at(-1)], [null, undefined, null])
}
