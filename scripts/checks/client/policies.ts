import assert from 'node:assert/strict'
import { createClient } from 'ginseng-client'
import type { Service } from './service.js'

/** Policies: nested JSON, and a response with more fields if an explanation is requested. */
export async function run({ address: url, masterKey }: Service) {
  const proof = { email: 'katherine@example.com', password: 'orbital mechanics' }
  const admin = createClient({ url, masterKey })
  await createClient({ url, token: masterKey }).users.create({ ...proof, role: 'admin' })
  await admin.session.signIn(proof)
  const matchLabels = { app: 'reviews', version: 'v2' }
  const policy = await admin.policies.create({ namespace: 'shop', name: 'reviews-v2', selector: { matchLabels } })
  assert.deepEqual(policy.selector?.matchLabels, matchLabels)

  const proxy = { namespace: 'shop', metadata: { labels: { app: 'reviews' } }, instance: { labels: { version: 'v1' } } }
  const { rows, explain } = await admin.request('POST', '/policies/evaluate', { body: { ...proxy, explain: true } })
  assert.deepEqual(rows, [])
  assert.equal(explain?.[0]?.policy.id, policy.id)
  assert.deepEqual(explain[0].labels, { app: 'ok', version: 'different' })

  assert.equal((await admin.policies.update(policy, { selector: null })).selector, undefined)
  const bad = await admin.policies.create({ namespace: 'shop', name: 'bad', selector: { matchLabels: { 'a b': '' } } }).catch((problem: unknown) => problem)
  assert.deepEqual(Object.keys(Object(bad).errors), ['selector.matchLabels["a b"]'])
}
