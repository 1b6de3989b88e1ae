import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { type Client, Problem, createClient } from 'ginseng-client'
import type { Service } from './service.js'
import * as guide from './guide/client.js'
import { type Fault, type Proxy, withProxy } from './faults.js'

const later: Fault = { status: 503, headers: { 'Retry-After': '0' } }
const network = { name: 'Problem', status: 0, code: 'network' }

/** Signs a user up and in with the generated client; returns the user's token. */
async function signUp({ address, masterKey }: Service, email: string) {
  const server = createClient({ url: address, masterKey })
  await server.users.create({ email, password: 'analytical engine' })
  const header = { Authorization: `Basic ${btoa(`${email}:analytical engine`)}` }
  return (await server.request('POST', '/auth', { params: { header }, body: { access_token: masterKey } })).token
}

/** Tests the generated client with the running service. */
export async function run(service: Service) {
  const { masterKey } = service
  const token = await signUp(service, 'edith@example.com')
  const api = createClient({ url: `${service.address}/`, token })
  await test('records and their ETags', () => records(api))
  await test('lists', () => lists(api))
  await test('batches', () => batches(api))
  await test('the guide', () => guided(service, token))
  await test('credentials', () => credentials(service, token))
  await withProxy(service.address, async (proxy) => {
    const slow = createClient({ url: proxy.address, token, masterKey })
    await test('problems', () => problems(slow, proxy))
    await test('repeated requests', () => repeated(slow, proxy))
    await test('aborts', () => aborts(slow, proxy))
    await test('random faults', () => random(slow, api, proxy))
  })
}

async function records(api: Client) {
  const maker = await api.makers.create({ name: 'Edith' })
  assert.deepEqual(Object.keys(maker), ['id', 'name', 'photo', 'papers', 'userId', 'createdAt', 'updatedAt']) // the ETag is not enumerable
  const renamed = await api.makers.update(maker, { name: 'Edith Clarke' })
  await assert.rejects(api.makers.update(maker, { name: 'Late' }), { status: 412, code: 'precondition_failed' })
  await assert.rejects(api.makers.delete(maker), { status: 412 })
  assert.equal((await api.makers.update({ ...maker }, { name: 'A copy' })).name, 'A copy') // has no ETag
  await assert.rejects(api.makers.update(renamed, { name: 'Late' }), { status: 412 })

  const ware = await api.wares.create({ title: 'Graph', maker: maker.id, kind: 'tool', parts: [maker.id] })
  const shown = await api.wares.get(ware.id, { expand: ['maker', 'parts'] })
  assert.deepEqual([shown.expand.maker?.name, shown.expand.parts[0]?.id], ['A copy', maker.id])
  assert.equal((await api.wares.update(shown, { state: 'used' })).state, 'used')
  await assert.rejects(api.wares.delete(shown), { status: 412 })
  const [row] = (await api.wares.list({ q: 'graph', fields: ['state'] })).rows
  assert.deepEqual(row, { id: ware.id, state: 'used' })
  const changed = await api.wares.update(row, { state: null })
  assert.equal(changed.state, 'new')
  await assert.rejects(api.wares.update(row, { state: 'used' }), { status: 412 })
  assert.equal(await api.wares.delete(changed), undefined)
  await assert.rejects(api.wares.delete(ware.id), { status: 404, code: 'not_found' })

  const order = await api.orders.create({})
  const { lines } = api.orders
  const other = await api.wares.create({ title: 'Chart', maker: maker.id, kind: 'toy' })
  const line = await lines(order.id).create({ ware: other.id, amount: 1 })
  assert.equal((await lines(order.id).update(line, { amount: 2 })).amount, 2)
  await assert.rejects(lines(order.id).update(line, { amount: 3 }), { status: 412 })
  assert.equal((await lines(order.id).get(line.id, { expand: ['ware'] })).expand.ware?.title, 'Chart')
  assert.deepEqual((await lines(order.id).list()).rows.map(({ amount }) => amount), [2])
  for (const id of ['', '.', '..']) await assert.rejects(lines(id).list(), TypeError) // another path
  await assert.rejects(api.wares.get('../makers'), { status: 404 })
  await assert.rejects(api.request('GET', '/wares/{id}', { params: { path: { id: 1 as unknown as string } } }), { status: 404 })
}

async function lists(api: Client) {
  const first = await api.makers.create({ name: 'Lists, one' })
  for (const name of ['two', 'three']) await api.makers.create({ name: `Lists, ${name}` })
  const query = { q: 'lists', sort: ['-name'], fields: ['name'] } as const
  const page = await api.makers.list({ ...query, limit: 2 })
  assert.deepEqual([page.count, page.rows.map(({ name }) => name)], [3, ['Lists, two', 'Lists, three']])
  assert.deepEqual((await api.makers.list({ ...query, after: page.next ?? '', count: false })), { rows: [{ id: first.id, name: 'Lists, one' }] })
  const names: string[] = []
  for await (const row of api.makers.all({ ...query, limit: 1 })) names.push(row.name)
  assert.deepEqual(names, ['Lists, two', 'Lists, three', 'Lists, one'])

  const ware = { maker: first.id, kind: 'toy' as const }
  for (const [title, tag] of [['A', 'red, blue'], ['B', 'red'], ['C', 'blue']] as const) await api.wares.create({ ...ware, title, tags: [tag] })
  const titles = async (filter: Parameters<Client['wares']['list']>[0]) => (await api.wares.list({ ...filter, sort: ['title'] })).rows.map((row) => row.title)
  assert.deepEqual(await titles({ maker: first.id, tags: { in: ['red, blue'] } }), ['A'])
  assert.deepEqual(await titles({ maker: first.id, tags: { in: ['red, blue', 'blue'] } }), ['A', 'C'])
  assert.deepEqual(await titles({ maker: { in: [first.id] }, title: { gt: 'A', ne: 'C' } }), ['B'])
  assert.deepEqual(await titles({ maker: first.id, state: 'used' }), [])
  await assert.rejects(titles({ maker: { in: [] } }), { status: 400 }) // not: all wares
  await assert.rejects(titles({ maker: {} }), TypeError)
  await assert.rejects(titles({ maker: { in: undefined as unknown as string[] } }), TypeError)
  const time = (time: number) => new Date(time) as unknown as string // in JavaScript
  assert.deepEqual(await titles({ maker: first.id, createdAt: { gt: time(0), lt: time(1000) } }), [])
  assert.deepEqual(await titles({ createdAt: time(0) }), [])
  assert.match(await api.request('GET', '/wares', { params: { query: { format: 'csv', fields: ['title'], maker: first.id, sort: ['title'] } } }), /^id,title\r?\n\w+,A\r?\n/)
}

async function batches(api: Client) {
  const maker = await api.makers.create({ name: 'Batches' })
  const [ware, unused] = await Promise.all(['Pump', 'Valve'].map((title) => api.wares.create({ title, maker: maker.id, kind: 'tool' })))
  assert.ok(ware && unused)
  const [order, line, second, changed] = await api.batch((b) => {
    const order = b.orders.create({ note: '$5 off' }) // not a reference
    b.orders.lines(order.id).create({ ware: ware.id, amount: 1 })
    b.wares.create({ title: order.id, maker: maker.id, kind: 'toy', extra: { price: '$9', order: { id: order.id } } })
    b.orders.update(order, { note: null })
    b.wares.delete(unused)
  })
  assert.deepEqual([order?.status, order?.body?.note, line?.body?.orderId], [201, '$5 off', order?.body?.id])
  assert.deepEqual([second?.body?.title, second?.body?.extra], [order?.body?.id, { price: '$9', order: { id: order?.body?.id } }])
  assert.equal(changed?.body?.note, '')
  await api.makers.update(maker, { name: 'Batches, changed' })
  await assert.rejects(api.batch((b) => {
    b.orders.create({ note: 'never' })
    b.makers.update(maker, { name: 'Late' }) // with If-Match
  }), { status: 412, operation: 1 })
  assert.equal((await api.orders.list()).rows.some(({ note }) => note === 'never'), false)
  await assert.rejects(api.batch((b) => b.orders.create({ note: `after ${b.orders.create({}).id}` })), TypeError)
  const results = await api.batch(async (b) => {
    await Promise.resolve()
    b.orders.create({})
  })
  assert.equal(results.length, 1)
}

async function guided({ address }: Service, token: string) {
  const api = guide.connect(address, token)
  const { id } = await guide.me(api)
  const second = await guide.pair(api, 'A series')
  const { rows: [one, two] } = await api.articles.list({ userId: id, sort: ['title'] })
  assert.ok(one && two)
  assert.deepEqual([two.title, two.content, second?.id], ['A series, continued', one.id, two.id])
  const appended = await Promise.all(['a', 'b'].map((text) => guide.append(api, one.id, text))) // each reads before the other writes
  assert.deepEqual(appended.map(({ content }) => content.length).sort(), [1, 2])
  assert.equal((await guide.recent(api)).titles.filter((title) => title.endsWith(', edith')).length, 2)
  await guide.clear(api, id)
  assert.equal((await api.articles.list({ userId: id })).count, 0)
}

async function credentials({ address, masterKey }: Service, token: string) {
  const sent: (string | null)[] = []
  const recorded: typeof fetch = (url, init) => {
    sent.push(new Headers(init?.headers).get('Authorization'))
    return fetch(url, init)
  }
  let n = 0
  const api = createClient({ url: address, masterKey, fetch: recorded, token: async () => (n++ ? token : undefined) })
  await assert.rejects(api.request('GET', '/users/me'), { status: 401, code: 'unauthorized' })
  assert.equal((await api.request('GET', '/users/me')).email, 'edith@example.com')
  await api.giftCards.create({ code: 'A' })
  assert.deepEqual(sent, [null, `Bearer ${token}`, `Bearer ${masterKey}`])
  const failing = createClient({ url: address, token: () => Promise.reject(new Error('no token')), fetch: recorded })
  await assert.rejects(failing.makers.list(), { message: 'no token' })
  assert.equal(sent.length, 3)
  const broken = await createClient({ url: address, token: 'secret\nsecret' }).makers.list().catch((error: unknown) => error)
  assert.ok(broken instanceof TypeError && !broken.message.includes('secret'))
}

async function problems(api: Client, proxy: Proxy) {
  const invalid = await api.makers.create({ name: '' }).catch((problem: unknown) => problem)
  assert.ok(invalid instanceof Problem && invalid instanceof Error)
  assert.deepEqual([invalid.status, invalid.code, invalid.errors.name?.map(({ code }) => code)], [400, 'validation_failed', ['required']])
  assert.equal(invalid.message, invalid.detail)
  assert.ok(invalid.requestId)
  proxy.faults = [{ status: 502, headers: { 'X-Request-Id': 'of the proxy' } }]
  await assert.rejects(api.makers.list(), { name: 'Problem', status: 502, code: undefined, requestId: 'of the proxy', errors: {} })
  proxy.faults = [{ status: 502, headers: { 'Content-Type': 'application/json' }, body: '{"errors": 1}' }]
  await assert.rejects(api.makers.list(), { name: 'Problem', status: 502, errors: {} })
  proxy.faults = ['cut']
  await assert.rejects(api.makers.update('a', { name: 'A' }), network)
  proxy.faults = [{ status: 200, body: 'Welcome to our network' }] // not of the service
  await assert.rejects(api.makers.update('a', { name: 'A' }), network)
  proxy.received()
  for (const status of [301, 307]) { // a followed 301 is a GET, a followed 307 sends the body to the other address
    proxy.faults = [{ status, headers: { Location: `${proxy.address}/makers` } }, 'pass']
    await assert.rejects(api.makers.create({ name: 'Redirected' }), { ...network, detail: /^The response is a redirect to http:/ })
    assert.equal(proxy.received().length, 1)
  }
  proxy.faults = ['pass']
  const browser = createClient({ url: '/', fetch: async () => ({ type: 'opaqueredirect', status: 0, headers: new Headers() }) as Response })
  await assert.rejects(browser.makers.list(), { ...network, detail: /^The response is a redirect\./ })
}

async function repeated(api: Client, proxy: Proxy) {
  const calls = () => proxy.received().map(({ call }) => call)
  calls()
  for (const fault of ['cut', 'cut in response', 'lose response', later, { status: 429, headers: { 'Retry-After': new Date().toUTCString() } }] as Fault[]) {
    const name = `After ${JSON.stringify(fault)}`
    proxy.faults = [fault, 'pass']
    const maker = await api.makers.create({ name })
    const keys = proxy.received().map(({ headers }) => headers['idempotency-key'])
    assert.ok(keys.length === 2 && keys[0] && keys[0] === keys[1], name)
    proxy.faults = [fault, 'pass']
    assert.equal((await api.makers.get(maker.id)).name, name)
    proxy.faults = [fault, 'pass']
    await api.batch((b) => b.orders.create({ note: name }))
    assert.equal((await api.orders.list()).rows.filter(({ note }) => note === name).length, 1)
    proxy.faults = [fault, 'pass']
    await api.makers.delete(maker) // 404 after a lost response
    await assert.rejects(api.makers.get(maker.id), { status: 404 })
    calls()

    const other = await api.makers.create({ name: `${name}, too` })
    for (const write of [() => api.makers.update(other, {}), () => api.makers.delete(other.id), () => api.request('POST', '/orders', { body: {} }), () => api.giftCards.create({ code: name })]) {
      calls()
      proxy.faults = [fault, 'pass']
      await assert.rejects(write(), { name: 'Problem' }) // not repeated: it may have been done
      assert.equal(calls().length, 1)
    }
  }
  proxy.faults = [later]
  await assert.rejects(api.makers.list(), { status: 503 })
  assert.equal(calls().length, 5)
  for (const fault of [{ status: 503 }, { status: 500, headers: { 'Retry-After': '0' } }, { status: 503, headers: { 'Retry-After': '31' } }]) {
    proxy.faults = [fault]
    await assert.rejects(api.makers.list(), { status: fault.status })
    assert.equal(calls().length, 1)
  }
  proxy.faults = ['pass']
}

async function aborts(api: Client, proxy: Proxy) {
  const reason = new Error('enough')
  const aborted = async (call: (signal: AbortSignal) => Promise<unknown>, when: 'before' | 'during', requests: number) => {
    proxy.received()
    const controller = new AbortController()
    if (when === 'before') controller.abort(reason)
    const result = call(controller.signal).then(() => 'resolved', (error: unknown) => error)
    for (let count = 0; when === 'during' && count < requests; count += proxy.received().length) await new Promise(setImmediate)
    controller.abort(reason)
    assert.equal(await result, reason)
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
    assert.equal(proxy.received().length, 0)
  }
  await aborted((signal) => api.makers.list({}, { signal }), 'before', 0)
  proxy.faults = ['hang']
  await aborted((signal) => api.makers.list({}, { signal }), 'during', 1)
  await aborted((signal) => api.makers.create({ name: 'Aborted' }, { signal }), 'during', 1)
  await aborted((signal) => api.batch((b) => b.orders.create({}), { signal }), 'during', 1)
  await aborted((signal) => api.request('GET', '/makers', { signal }), 'during', 1)
  await aborted((signal) => api.makers.all({}, { signal }).next(), 'during', 1)
  proxy.faults = ['pass']
  const waiting = createClient({ url: proxy.address, token: () => new Promise(() => {}) })
  await aborted((signal) => waiting.makers.list({}, { signal }), 'during', 0)

  const { signal } = new AbortController()
  const own: typeof fetch = (url, init) => fetch(url, { ...init, signal: null }) // that of Node.js keeps its listener
  const ready = createClient({ url: proxy.address, token: async () => undefined, fetch: own })
  proxy.faults = [later, 'pass']
  await ready.articles.list({}, { signal })
  assert.equal(getEventListeners(signal, 'abort').length, 0, 'after a response')
  await pauses(reason)
}

/** An abort while the client waits leaves no timer. */
async function pauses(reason: Error) {
  const { getActiveResourcesInfo } = process as unknown as { getActiveResourcesInfo(): string[] } // Node.js 17.3
  const timers = () => getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  const api = createClient({ url: '/', fetch: async () => new Response('', { status: 503, headers: { 'Retry-After': '20' } }) })
  const controller = new AbortController()
  const result = assert.rejects(api.makers.list({}, { signal: controller.signal }), reason)
  await new Promise(setImmediate)
  assert.equal(timers(), before + 1)
  controller.abort(reason)
  await result
  assert.equal(timers(), before)
}

/**
 * Every creation that is acknowledged exists once, also in a batch, and no other exists twice; of the deletions no record is left; an acknowledged
 * update is stored.
 */
async function random(api: Client, direct: Client, proxy: Proxy) {
  const faults: Fault[] = ['pass', 'pass', 'slow', 'cut', 'cut in response', 'lose response', later, { status: 429, headers: { 'Retry-After': '0' } }]
  const chosen = Array.from({ length: 600 }, () => faults[Math.floor(Math.random() * faults.length)] ?? 'pass')
  proxy.faults = [...chosen, 'pass']
  const kinds = ['create', 'delete', 'update', 'batch'] as const
  const calls = Array.from({ length: 60 }, async (_, i) => {
    const title = `Random ${i}`, kind = kinds[i % kinds.length]
    if (kind === 'batch') return String((await api.batch((b) => b.articles.create({ title })))[0]?.body?.id)
    const article = await api.articles.create({ title })
    if (kind === 'delete') await api.articles.delete(article)
    if (kind === 'update') await api.articles.update(article, { content: 'updated' })
    return article.id
  })
  const done = await Promise.allSettled(calls)
  proxy.faults = ['pass']
  const left = new Map<string, { id: string; content: string }[]>()
  for await (const { id, title, content } of direct.articles.all({ q: 'random' })) left.set(title, [...(left.get(title) ?? []), { id, content }])
  for (const [i, result] of done.entries()) {
    const records = left.get(`Random ${i}`) ?? [], kind = kinds[i % kinds.length], about = `${kind} ${i}, faults: ${JSON.stringify(chosen)}`
    if (result.status === 'rejected') assert.ok(result.reason instanceof Problem && records.length <= 1, `${about}: ${result.reason}`)
    else assert.deepEqual(records.map(({ id }) => id), kind === 'delete' ? [] : [result.value], about)
    if (result.status === 'fulfilled' && kind === 'update') assert.equal(records[0]?.content, 'updated', about)
  }
}
