// Calls of the generated client: in each pair, the first compiles, and the second, below the comment, must not. Nothing here is run.

import { type Client, type Problem, type Records, type SessionClient, createClient } from 'ginseng-client'

export function clients() {
  createClient({ url: 'http://localhost:9000', token: async () => 'token' })
  // @ts-expect-error: the address is required
  createClient({ token: 'token' })
  createClient({ url: '/', masterKey: 'key', fetch: (input, init) => fetch(input, init) })
  // @ts-expect-error: a token is a string
  createClient({ url: '/', token: 1 })
  createClient({ url: '/', storage: localStorage }).session.user?.email satisfies string | undefined
  // @ts-expect-error: a client with a token has no session
  createClient({ url: '/', token: 'token' }).session
}

export async function sessions({ session }: SessionClient) {
  const user = await session.signIn({ email: 'ada@example.com', password: 'analytical engine' })
  user.role satisfies 'user' | 'admin'
  // @ts-expect-error: an email address alone is no proof
  ;(await session.signIn({ email: 'ada@example.com' })).role
  const { challenge } = await session.signIn({ email: 'ada@example.com' })
  await session.signIn({ challenge, emailCode: '123456' })
  // @ts-expect-error: there is no such property
  await session.signIn({ challenge, pin: '123456' })
  await session.signUp({ email: 'ada@example.com', password: 'analytical engine', name: 'Ada' })
  // @ts-expect-error: the password is required
  await session.signUp({ email: 'ada@example.com' })
  session.onChange((next) => next?.name)()
  // @ts-expect-error: the listener receives null at the end of the session
  session.onChange((next) => next.name)
}

export async function writes(api: Client, ware: Records['ware']) {
  await api.wares.create({ title: 'A', maker: ware.maker, kind: 'toy' }) // state has a default
  // @ts-expect-error: kind is required
  await api.wares.create({ title: 'A', maker: ware.maker })
  await api.wares.create({ title: 'A', maker: ware.maker, kind: 'tool', size: null, price: '1.5', tags: ['a'], extra: { a: [1] } })
  // @ts-expect-error: title cannot be null
  await api.wares.create({ title: null, maker: ware.maker, kind: 'tool' })
  await api.wares.create({ title: 'A', maker: ware.maker, kind: 'tool', state: 'used' })
  // @ts-expect-error: there is no such state
  await api.wares.create({ title: 'A', maker: ware.maker, kind: 'tool', state: 'old' })
  await api.wares.update(ware, { state: null, note: null }) // null restores the default and clears
  // @ts-expect-error: kind is required, so it cannot be cleared
  await api.wares.update(ware, { kind: null })
  await api.wares.update(ware.id, { title: 'B' })
  // @ts-expect-error: stock is read-only
  await api.wares.update(ware.id, { stock: 1 })
  await api.wares.delete(ware)
  // @ts-expect-error: an ID is a string
  await api.wares.delete(1)
  await api.giftCards.create({ code: 'A' })
  // @ts-expect-error: the API cannot delete gift cards
  await api.giftCards.delete('A')
  await api.users.create({ email: 'ada@example.com', password: 'analytical engine', role: 'admin' })
  // @ts-expect-error: there is no such role
  await api.users.create({ email: 'ada@example.com', password: 'analytical engine', role: 'root' })
}

export async function lists(api: Client) {
  await api.wares.list({ q: 'a', sort: ['title', '-createdAt'], limit: 10, state: 'new' })
  // @ts-expect-error: wares cannot be sorted by their price
  await api.wares.list({ sort: ['price'] })
  await api.wares.list({ state: { in: ['new', 'used'] }, price: { gt: '1', lte: '2' }, createdAt: { gt: '2026-01-01T00:00:00Z' } })
  // @ts-expect-error: there is no such state
  await api.wares.list({ state: { in: ['old'] } })
  await api.wares.list({ heavy: true, tags: 'a' })
  // @ts-expect-error: heavy is not ordered
  await api.wares.list({ heavy: { gt: true } })
  await api.wares.list({ fields: ['title'], expand: ['maker'] })
  // @ts-expect-error: note is no filter
  await api.wares.list({ fields: ['title'], note: 'a' })
  await api.orders.list({ after: 'cursor' })
  // @ts-expect-error: orders cannot be searched
  await api.orders.list({ q: 'a' })
  await api.makers.list({ count: false }, { signal: AbortSignal.timeout(1000) })
  // @ts-expect-error: signal is in the options
  await api.makers.list({ signal: AbortSignal.timeout(1000) })
  for await (const row of api.wares.all({ limit: 10, fields: ['title'] })) row.title satisfies string
  // @ts-expect-error: the iterator begins at the first record
  for await (const row of api.wares.all({ after: 'cursor' })) row.title satisfies string
}

export async function rows(api: Client) {
  const page = await api.wares.list()
  page.count satisfies number
  // @ts-expect-error: the last page has no next
  page.next satisfies string
  const [whole] = page.rows
  whole?.state satisfies 'new' | 'used' | undefined
  // @ts-expect-error: there is no such field
  whole?.colour
  whole?.price satisfies string | null | undefined
  // @ts-expect-error: price can be null
  whole?.price satisfies string | undefined
  const [titles] = (await api.wares.list({ fields: ['title', 'state'] })).rows
  titles satisfies { id: string; title: string; state: 'new' | 'used' } | undefined
  // @ts-expect-error: note was not requested
  titles?.note
  const [short] = (await api.wares.list({ fields: ['-note'] })).rows
  short?.title satisfies string | undefined
  // @ts-expect-error: note was left out
  short?.note
  const names: ('title' | 'note')[] = ['title']
  const [some] = (await api.wares.list({ fields: names })).rows
  some?.title satisfies string | undefined
  // @ts-expect-error: the compiler does not know whether it was requested
  if (some) some.title satisfies string
  await api.wares.list({ fields: ['-title', '-note'] })
  // @ts-expect-error: fields are all included or all left out
  await api.wares.list({ fields: ['title', '-note'] })
  const uncounted = await api.wares.list({ count: false })
  uncounted.count satisfies undefined
  // @ts-expect-error: there is no count
  uncounted.count satisfies number
}

export async function references(api: Client, id: string) {
  const ware = await api.wares.get(id, { expand: ['maker', 'parts'] })
  ware.expand.maker?.name satisfies string | undefined
  // @ts-expect-error: the maker may be deleted
  ware.expand.maker.name
  ware.expand.parts[0]?.name satisfies string | undefined
  // @ts-expect-error: the owner was not requested
  ware.expand.userId
  const line = await api.orders.lines(id).get(id, { expand: ['ware'] })
  line.expand.ware?.title satisfies string | undefined
  // @ts-expect-error: lines have no such reference
  await api.orders.lines(id).get(id, { expand: ['maker'] })
  const [row] = (await api.wares.list({ fields: ['title'], expand: ['userId'] })).rows
  row?.expand.userId?.name satisfies string | undefined
  // @ts-expect-error: others than the user may not see the email address
  row?.expand.userId?.email satisfies string
  const plain = await api.wares.get(id)
  plain satisfies Records['ware']
  // @ts-expect-error: nothing was expanded
  plain.expand
}

export async function files(api: Client, id: string, file: File) {
  const maker = await api.makers.photo.upload(id, file, { onProgress: ({ loaded, total }) => loaded / total, signal: AbortSignal.timeout(1000) })
  // @ts-expect-error: the file is missing
  await api.makers.photo.upload(id)
  maker.photo?.size satisfies number | undefined
  // @ts-expect-error: the file can be absent
  maker.photo.size
  maker.papers[0]?.id satisfies string | undefined
  // @ts-expect-error: a single file has no ID
  maker.photo?.id
  ;(await api.makers.papers.link(id, 'file', { expiresIn: 60 })).url satisfies string
  // @ts-expect-error: the file of the list is missing
  await api.makers.papers.link(id)
  await api.makers.papers.delete(maker, maker.papers[0] ?? '')
  // @ts-expect-error: the only file of a field has no ID
  await api.makers.photo.delete(maker, 'file')
  api.makers.photo.url(id) satisfies string
  // @ts-expect-error: wares have no files
  api.wares.photo
  ;(await api.request('GET', '/makers/{id}/photo', { params: { path: { id } } })) satisfies Blob
  // @ts-expect-error: the file is not a string
  ;(await api.request('GET', '/makers/{id}/photo', { params: { path: { id } } })) satisfies string
}

export function feeds(api: Client, id: string) {
  const onResync = () => {}
  void api.articles.follow({ userId: id, onResync, onChange: (change) => change.event === 'deleted' || (change.data satisfies Records['article']) })
  // @ts-expect-error: title is no filter of the feed
  void api.articles.follow({ title: 'A', onResync, onChange: () => {} })
  void api.orders.lines(id).follow({ signal: AbortSignal.timeout(1000), onResync, onChange: ({ data }) => data.id satisfies string })
  // @ts-expect-error: a deleted record has only its ID
  void api.orders.lines(id).follow({ onResync, onChange: ({ data }) => data.amount })
  void api.orders.follow({ onResync: async () => {}, onChange: async ({ event }) => event satisfies 'created' | 'updated' | 'deleted' })
  // @ts-expect-error: onResync is required
  void api.orders.follow({ onChange: () => {} })
  void api.articles.follow
  // @ts-expect-error: wares record no changes
  void api.wares.follow
}

export async function batches(api: Client, id: string) {
  await api.batch((b) => {
    const order = b.orders.create({})
    const line = b.orders.lines(order.id).create({ ware: id, amount: 1 })
    // @ts-expect-error: the amount is a number
    b.orders.lines(order.id).create({ ware: id, amount: order.id })
    b.orders.lines(order.id).update(line, { amount: 2 })
    // @ts-expect-error: a batch writes, and does not read
    b.orders.list()
    b.wares.delete(id)
    // @ts-expect-error: users cannot be part of a batch
    b.users.delete(id)
  })
  const [result] = await api.batch((b) => b.orders.delete(id), { signal: AbortSignal.timeout(1000) })
  result?.status satisfies number | undefined
  // @ts-expect-error: a result has no such property
  result?.id
}

export async function requests(api: Client, id: string) {
  const ware = await api.request('GET', '/wares/{id}', { params: { path: { id } } })
  ware.title satisfies string
  // @ts-expect-error: the path has a parameter
  await api.request('GET', '/wares/{id}')
  const page = await api.request('get', '/wares', { params: { query: { limit: 1, 'state[in]': ['new'] } } })
  page.rows[0]?.id satisfies string | undefined
  // @ts-expect-error: a limit is a number
  await api.request('get', '/wares', { params: { query: { limit: '1' } } })
  const csv = await api.request('get', '/wares', { params: { query: { format: 'csv' } } })
  csv satisfies string
  // @ts-expect-error: an export is a string
  csv.rows
  const { token } = await api.request('POST', '/auth', { params: { header: { Authorization: 'Basic …' } }, body: {} })
  token satisfies string
  // @ts-expect-error: there is no such header
  await api.request('POST', '/auth', { params: { header: { 'If-Match': '"1"' } }, body: {} })
  await api.request('post', '/wares', { body: { title: 'A', maker: id, kind: 'toy' } })
  // @ts-expect-error: the body is required
  await api.request('post', '/wares')
  await api.request('DELETE', '/wares/{id}', { params: { path: { id }, header: { 'If-Match': '"1"' } } }) satisfies undefined
  // @ts-expect-error: there is no such operation
  await api.request('DELETE', '/wares')
  await api.request('GET', '/users/me')
  // @ts-expect-error: there is no such path
  await api.request('GET', '/user/me')
}

export function problems(problem: Problem) {
  if (problem.code === 'validation_failed') problem.errors.title?.[0]?.code satisfies string | undefined
  // @ts-expect-error: there is no such code
  if (problem.code === 'invalid') return
  if (problem.code === 'network') problem.status satisfies number
  // @ts-expect-error: not each parameter has errors
  problem.errors.title.length
}
