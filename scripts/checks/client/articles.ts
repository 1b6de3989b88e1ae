import assert from 'node:assert/strict'
import { type Api, type Schemas, connect, data } from './guide/api.js'
import { create, latest, newest } from './guide/page.js'
import type { operations } from './guide/schema.js'
import { Problem } from './guide/session.mjs'
import { type Service, signUp } from './account.js'

/** The requests of a frontend for a resource, from sign-up to deletion. */
export async function run(service: Service) {
  const { created, signedIn, session, user } = await signUp(service, 'ada@example.com', 'analytical engine')
  const anonymous = connect(service.address)
  assert.equal(created.email, 'ada@example.com')
  assert.equal(created.role satisfies 'user' | 'admin', 'user')
  assert.ok(new Date(signedIn.expiresAt) > new Date())

  // An explicit refresh, and one by the session after its token has become invalid.
  const fresh = data(await anonymous['/auth/refresh'].POST({ body: { refresh_token: signedIn.refreshToken } }))
  assert.equal(fresh.user.id, created.id)
  await session.take({ ...fresh, token: 'invalid' })
  const { article } = await create(user, { title: 'On ginseng', content: 'A root worth waiting for.' })
  assert.ok(article)
  assert.deepEqual([article.title, article.userId], ['On ginseng', created.id])

  // With an Idempotency-Key only the first request creates an article.
  const once = { params: { header: { 'Idempotency-Key': 'roots-1' } }, body: { title: 'On roots' } }
  const posted = await user['/articles'].POST(once)
  assert.equal(posted.response.status, 201)
  const roots = data(posted)
  assert.equal(data(await user['/articles'].POST(once)).id, roots.id)

  // All errors of a form in one response.
  const { beside } = await create(user, { title: '', content: 'x'.repeat(100_001) })
  assert.deepEqual(beside, { title: 'Please fill this in.', content: 'At most 100000 characters, please.' })

  await lists(anonymous, article, roots)
  await changes(user, article)

  // The response of a proxy while the service is unavailable.
  const empty = { status: 502, headers: { 'Content-Length': '0' } }
  const unavailable = connect(service.address, { fetch: async () => new Response(null, empty) })
  await assert.rejects(async () => data(await unavailable['/articles'].GET()), { status: 502 })

  // A call without a client: JSON, and any body of fetch.
  const title = (record: unknown) => (record as Schemas['Article']).title
  const path = `/articles/${roots.id}`
  assert.equal(title(await session.call(path, { method: 'PATCH', json: { title: 'As JSON' } })), 'As JSON')
  assert.equal(title(await session.call(path, { method: 'PATCH', body: new URLSearchParams({ title: 'As a form' }) })), 'As a form')

  await session.signOut()
  await assert.rejects(user['/users/me'].GET(), { status: 401, code: 'unauthorized' })
}

/** Lists and searches the articles. */
async function lists(anonymous: Api, article: Schemas['Article'], roots: Schemas['Article']) {
  assert.deepEqual(await newest(anonymous, 'roo'), ['On roots', 'On ginseng'])
  assert.deepEqual((await latest(anonymous)).map((row) => row.title.length), [roots.title.length, article.title.length])

  const list = data(await anonymous['/articles'].GET({
    params: { query: { q: 'gins', 'createdAt[gte]': article.createdAt, userId: article.userId, sort: ['title', '-createdAt'] } },
  }))
  assert.deepEqual([list.count, list.rows], [1, [article]])

  const query: operations['getArticles']['parameters']['query'] = {
    'userId[in]': [article.userId, roots.id], fields: ['title'], sort: ['title'], limit: 1,
  }
  const first = data(await anonymous['/articles'].GET({ params: { query } }))
  assert.deepEqual([first.count, first.rows], [2, [{ id: article.id, title: article.title }]])
  assert.ok(first.next)
  const second = data(await anonymous['/articles'].GET({ params: { query: { ...query, after: first.next, count: false } } }))
  assert.deepEqual(second, { rows: [{ id: roots.id, title: roots.title }] }) // no next page, and no count
}

/** Changes and deletes the article with ETags. */
async function changes(user: Api, article: Schemas['Article']) {
  const path = { id: article.id }
  const shown = await user['/articles/{id}'].GET({ params: { path } })
  const etag = shown.response.headers.get('ETag') ?? ''
  const same = await user['/articles/{id}'].GET({ params: { path, header: { 'If-None-Match': etag } } })
  assert.equal(same.response.status, 304)

  const edit = { params: { path, header: { 'If-Match': etag } }, body: { title: 'On patience' } }
  assert.equal(data(await user['/articles/{id}'].PATCH(edit)).title, 'On patience')
  const late = await user['/articles/{id}'].PATCH(edit)
  assert.equal(late.error?.code, 'precondition_failed')
  const cleared = data(await user['/articles/{id}'].PATCH({ params: { path }, body: { content: null } }))
  assert.equal(cleared.content, '')

  const gone = await user['/articles/{id}'].DELETE({ params: { path } })
  assert.equal(gone.response.status, 204)
  const missing = await user['/articles/{id}'].GET({ params: { path } })
  assert.throws(() => data(missing), (problem) => problem instanceof Problem && problem.code === 'not_found')
}
