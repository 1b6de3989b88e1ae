import assert from 'node:assert/strict'
import { data } from './guide/api.js'
import { type Service, signUp } from './account.js'

/** Policies: nested JSON, and a response with more fields if an explanation is requested. */
export async function run(service: Service) {
  const { user: admin } = await signUp(service, 'katherine@example.com', 'orbital mechanics', 'admin')
  const matchLabels = { app: 'reviews', version: 'v2' }
  const policy = data(await admin['/policies'].POST({ body: { namespace: 'shop', name: 'reviews-v2', selector: { matchLabels } } }))
  assert.deepEqual(policy.selector?.matchLabels, matchLabels)

  const proxy = { namespace: 'shop', metadata: { labels: { app: 'reviews' } }, instance: { labels: { version: 'v1' } } }
  const { rows, explain } = data(await admin['/policies/evaluate'].POST({ body: { ...proxy, explain: true } }))
  assert.deepEqual(rows, [])
  assert.equal(explain?.[0]?.policy.id, policy.id)
  assert.deepEqual(explain[0].labels, { app: 'ok', version: 'different' })

  const path = { id: policy.id }
  const everywhere = data(await admin['/policies/{id}'].PATCH({ params: { path }, body: { selector: null } }))
  assert.equal(everywhere.selector, undefined)
  const bad = { namespace: 'shop', name: 'bad', selector: { matchLabels: { 'a b': '' } } }
  const { error } = await admin['/policies'].POST({ body: bad })
  assert.deepEqual(error?.errors?.map((fault) => [fault.param, fault.code]), [['selector.matchLabels["a b"]', 'format']])
}
