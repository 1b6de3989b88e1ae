import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { type Change, type Client, Problem, type Records, createClient } from 'ginseng-client'
import type { Service } from './service.js'
import { type Proxy, withProxy } from './faults.js'
import * as guide from './guide/follow.js'

const password = 'analytical engine'
type Article = Records['article']

/** A copy of articles, from a feed. */
class Copy {
  titles = new Map<string, string>()
  events: string[] = []
  lists = 0
  etag: string | undefined
  stop = new AbortController()
  followed: Promise<void>

  constructor(readonly api: Client, filters: { userId?: string } = {}) {
    this.followed = api.articles.follow({ ...filters, signal: this.stop.signal, onResync: () => this.list(filters), onChange: (change) => this.change(change) })
    this.followed.catch(() => {}) // a test awaits it
  }

  async list(filters: { userId?: string }) {
    const titles = new Map<string, string>()
    for await (const { id, title } of this.api.articles.all({ ...filters, fields: ['title'] })) titles.set(id, title)
    this.titles = titles
    this.lists++
  }

  async change({ event, data }: Change<Article>) {
    await Promise.resolve()
    this.events.push(event === 'deleted' ? event : `${event} ${data.title}`)
    if (event === 'deleted') this.titles.delete(data.id)
    else this.titles.set(data.id, data.title)
    this.etag = (data as { etag?: string }).etag
    assert.ok(!Object.keys(data).includes('etag'))
  }
}

const never = { onChange: () => assert.fail(), onResync: () => assert.fail() }

/** Resolves when the check is true. */
async function until(what: string, check: () => boolean) {
  for (const end = Date.now() + 20_000; !check(); await new Promise((resolve) => setTimeout(resolve, 5))) assert.ok(Date.now() < end, `timeout: ${what}`)
}

/** Tests follow of the generated client with the running service. */
export async function run(service: Service) {
  const { address: url } = service
  const api = createClient({ url })
  const user = await api.session.signUp({ email: 'emmy@example.com', password })
  await withProxy(url, async (proxy) => {
    const followed = createClient({ url: proxy.address })
    await followed.session.signIn({ email: 'emmy@example.com', password })
    await test('follow', () => changes(followed, api, user.id))
    await test('the guide to changes', () => guided(followed, api))
    await test('follow through faults', () => faulty(followed, api, proxy))
    await test('follow of nested records', () => nested(followed, api))
    await test('errors of follow', () => errors(followed, api, proxy))
    await test('follow with a function as token', () => tokens(service, api, proxy))
    await test('one stream for several followers', () => shared(api, url))
    await test('sign-in and sign-out of a follower', () => identities(proxy))
  })
}

async function changes(api: Client, other: Client, userId: string) {
  const before = await other.articles.create({ title: 'Before' })
  const copy = new Copy(api, { userId })
  await until('the list', () => copy.lists === 1)
  const article = await other.articles.create({ title: 'One' })
  await until('the event', () => copy.events.length === 1)
  assert.equal(copy.etag, (article as { etag?: string }).etag)
  await other.articles.update(article, { title: 'Two' })
  await other.articles.delete(before.id)
  await until('the events', () => copy.events.length === 3)
  assert.deepEqual(copy.events, ['created One', 'updated Two', 'deleted'])
  assert.deepEqual([...copy.titles], [[article.id, 'Two']])
  copy.stop.abort()
  assert.equal(await copy.followed, undefined)
  await api.articles.follow({ signal: AbortSignal.abort(), ...never })
  await other.articles.create({ title: 'After' })
  await other.articles.delete(article.id)
}

async function guided(api: Client, other: Client) {
  const stop = new AbortController()
  const shown: number[] = []
  const followed = guide.follow(api, stop.signal, (articles) => shown.push(articles.length))
  await until('the list', () => shown.length === 1)
  const { id } = await other.articles.create({ title: 'For the guide' })
  await until('the change', () => shown.length === 2)
  await other.articles.delete(id)
  await until('the deletion', () => shown.length === 3)
  const [first = 0] = shown
  assert.deepEqual(shown, [first, first + 1, first])
  stop.abort()
  await followed
}

/** The connection is cut in each way, at each place; nothing is missing or doubled, and nothing is listed again. */
async function faulty(api: Client, other: Client, proxy: Proxy) {
  const copy = new Copy(api)
  await until('the list', () => copy.lists === 1)
  for (let i = 0; i < 6; i++) {
    proxy.faults = [['cut', 'pass'], [{ status: 502 }, 'pass'], [{ status: 503, headers: { 'Retry-After': '0' } }, 'pass'], [{ status: 200, body: 'Welcome' }, 'pass']][i % 4] as Proxy['faults']
    proxy.cut()
    await other.articles.create({ title: `Cut ${i}` })
    if (i % 2) await until('the event', () => copy.titles.size > 0 && copy.events.at(-1) === `created Cut ${i}`)
  }
  await until('the events', () => copy.events.length === 6)
  assert.deepEqual(copy.events, Array.from({ length: 6 }, (_, i) => `created Cut ${i}`))
  assert.equal(copy.lists, 1)
  copy.stop.abort()
  await copy.followed
  proxy.faults = ['pass']

  // A list that fails is repeated, and then the changes follow.
  let lists = 0
  const stop = new AbortController()
  const events: string[] = []
  const followed = api.articles.follow({
    signal: stop.signal, onChange: ({ event }) => events.push(event),
    onResync: async () => {
      if (lists++ < 2) throw new Problem(503, {})
      await other.articles.create({ title: 'Meanwhile' })
    },
  })
  await until('the change', () => events.length > 0)
  assert.deepEqual([lists, events], [3, ['created']])
  stop.abort()
  await followed
}

async function nested(api: Client, other: Client) {
  const maker = await other.makers.create({ name: 'Emmy' })
  const ware = await other.wares.create({ title: 'Ring', maker: maker.id, kind: 'tool' })
  const order = await other.orders.create({})
  const amounts: number[] = []
  let lists = 0
  const followed = api.orders.lines(order.id).follow({ onResync: () => lists++, onChange: ({ event, data }) => { if (event !== 'deleted') amounts.push(data.amount) } })
  const ended = assert.rejects(followed, { name: 'Problem', status: 404 })
  await until('the list', () => lists === 1)
  await other.orders.lines(order.id).create({ ware: ware.id, amount: 7 })
  await until('the line', () => amounts.length === 1)
  assert.deepEqual(amounts, [7])
  await other.orders.delete(order.id)
  await ended
  await assert.rejects(api.orders.lines(order.id).follow({ ...never }), { status: 404 })
}

async function errors(api: Client, other: Client, proxy: Proxy) {
  const none = { onChange() {}, onResync() {} }
  await assert.rejects(api.articles.follow({ ...none, userId: 'a,b' }), { status: 400 })
  proxy.faults = [{ status: 403 }, 'pass']
  const { signal } = new AbortController()
  await assert.rejects(api.articles.follow({ ...none, signal }), { status: 403 })
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  await assert.rejects(api.articles.follow({ ...none, onResync() { throw new Error('of the page') } }), { message: 'of the page' })
  let listed = false
  const followed = api.articles.follow({ onResync() { listed = true }, onChange: () => Promise.reject(new Error('of a change')) })
  const rejected = assert.rejects(followed, { message: 'of a change' })
  await until('the list', () => listed)
  await other.articles.create({ title: 'For an error' })
  await rejected
}

/** The token expires, and the function of it fails: the feed goes on. A token that is a string ends it. */
async function tokens({ address, masterKey }: Service, api: Client, proxy: Proxy) {
  const server = createClient({ url: address, masterKey })
  const header = { Authorization: `Basic ${btoa(`emmy@example.com:${password}`)}` }
  const signIn = async () => (await server.request('POST', '/auth', { params: { header }, body: { access_token: masterKey } })).token
  let token = await signIn(), failures = 0
  const copy = new Copy(createClient({ url: proxy.address, token: async () => {
    if (failures-- > 0) throw new Error('offline')
    return token
  } }))
  await until('the list', () => copy.lists === 1)
  await createClient({ url: address, token }).request('DELETE', '/auth')
  failures = 1
  token = 'invalid'
  proxy.cut()
  await until('the attempts', () => failures < 0)
  token = await signIn()
  await api.articles.create({ title: 'With another token' })
  await until('the event', () => copy.events.length > 0)
  assert.deepEqual([copy.events, copy.lists], [['created With another token'], 1])
  copy.stop.abort()
  await copy.followed
  const text = createClient({ url: address, token: 'invalid' })
  await assert.rejects(text.articles.follow({ onChange() {}, onResync() {} }), { status: 401 })
}

/** Followers in a program with Web Locks, as those in tabs: one streams; if it ends, another one does. None misses or doubles a change. */
async function shared(api: Client, url: string) {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator') ?? { value: undefined, configurable: true }
  Object.defineProperty(globalThis, 'navigator', { value: { locks: new Locks() }, configurable: true })
  try {
    let streams = 0
    const count: typeof fetch = (input, init) => {
      if (new Headers(init?.headers).get('Accept') === 'text/event-stream') streams++
      return fetch(input, init)
    }
    const copies = Array.from({ length: 6 }, () => new Copy(createClient({ url, fetch: count })))
    await until('the lists', () => copies.every(({ lists }) => lists === 1))
    assert.equal(streams, 1)
    const late = new Copy(createClient({ url, fetch: count }))
    await until('the list of a late follower', () => late.lists === 1)
    late.stop.abort()
    await late.followed
    assert.equal(streams, 1)
    const want: string[] = []
    for (let i = 0; copies.length > 1; i++) {
      await api.articles.create({ title: `Shared ${i}` })
      want.push(`created Shared ${i}`)
      if (i % 2) await until('the event', () => copies.every(({ events }) => events.length === want.length))
      const [first] = copies.splice(i % 2 ? 0 : 1, 1)
      first?.stop.abort()
      await first?.followed
    }
    await until('the last events', () => copies.every(({ events }) => events.length === want.length))
    assert.deepEqual(copies.map(({ events }) => events), copies.map(() => want))
    assert.deepEqual(copies.map(({ lists }) => lists), copies.map(() => 1))
    for (const { stop } of copies) stop.abort()
    await Promise.all(copies.map(({ followed }) => followed))
  } finally {
    Object.defineProperty(globalThis, 'navigator', before)
  }
}

/** Web Locks, for one name after another. */
class Locks {
  waiting = new Map<string, Promise<unknown>>()
  async request<T>(name: string, options: { signal?: AbortSignal }, job: () => Promise<T>): Promise<T> {
    const last = this.waiting.get(name) ?? Promise.resolve()
    let release = () => {}
    const mine = new Promise<void>((resolve) => { release = resolve })
    this.waiting.set(name, last.then(() => mine))
    const aborted = new Promise<never>((_, reject) => options.signal?.addEventListener('abort', () => reject(options.signal?.reason)))
    try {
      await Promise.race([last, aborted])
      return await job()
    } finally {
      release()
    }
  }
}

async function identities(proxy: Proxy) {
  const url = proxy.address
  const api = createClient({ url })
  const copy = new Copy(api)
  await until('the list', () => copy.lists === 1)
  await api.session.signIn({ email: 'emmy@example.com', password })
  await until('the list of the user', () => copy.lists === 2)
  const { id } = await api.articles.create({ title: 'As a user' })
  await until('the event', () => copy.titles.has(id))
  await api.session.signOut()
  assert.equal(await copy.followed, undefined)

  // The session ends elsewhere: the next refresh fails.
  await api.session.signIn({ email: 'emmy@example.com', password })
  const other = new Copy(api)
  await until('the list', () => other.lists === 1)
  const elsewhere = createClient({ url })
  await elsewhere.session.signIn({ email: 'emmy@example.com', password })
  await elsewhere.request('DELETE', '/auth/sessions')
  proxy.cut()
  await other.followed
  assert.equal(api.session.user, null)
}
