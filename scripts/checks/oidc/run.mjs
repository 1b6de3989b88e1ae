// Signs in to the service with oidc-provider, a certified OpenID provider that nobody of this project wrote: configured as
// Google, as Microsoft, as Apple and as one that only the settings name.
//
//   npm --prefix scripts/checks/oidc ci && npm --prefix scripts/checks/oidc test
//
// It needs Go.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Fake, apple, client, tenant } from './provider.mjs'
import { withBuilt, withService } from '../browser/service.mjs'

const results = [] // rows of provider, case, status

const fakes = {}
for (const kind of ['google', 'microsoft', 'apple', 'plain']) fakes[kind] = await new Fake(kind).start()
fakes.plain.up = false // discovery is unreachable when the service starts

const settings = {
  GOOGLE_CLIENT_ID: client.id, GOOGLE_CLIENT_SECRET: client.secret, GOOGLE_ISSUER: fakes.google.address,
  MICROSOFT_CLIENT_ID: client.id, MICROSOFT_CLIENT_SECRET: client.secret, MICROSOFT_URL: fakes.microsoft.address,
  APPLE_CLIENT_ID: client.id, APPLE_TEAM_ID: apple.team, APPLE_KEY_ID: apple.keyID, APPLE_URL: fakes.apple.address,
  APPLE_PRIVATE_KEY: apple.privateKey.export({ format: 'pem', type: 'pkcs8' }).replaceAll('\n', '\\n'),
  OIDC_PROVIDERS: 'plain', OIDC_PLAIN_ISSUER: fakes.plain.address, OIDC_PLAIN_NAME: 'A plain provider',
  OIDC_PLAIN_CLIENT_ID: client.id, OIDC_PLAIN_CLIENT_SECRET: client.secret,
}

await withBuilt((binary) => withService(binary, settings, async ({ address }) => {
  const send = async (path, json, token) => {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) }
    const response = await fetch(address + path, json ? { method: 'POST', headers, body: JSON.stringify(json) } : { headers })
    return { status: response.status, body: await response.json() }
  }
  const listed = async () => Object.fromEntries((await send('/auth/providers')).body.rows.map((row) => [row.id, row]))

  /** Signs in with an account that has the claims, and checks the status. more changes the body. Resolves to the response. */
  const check = async (kind, what, status, account, claims, { more, token, before, pkce = true } = {}) => {
    fakes[kind].accounts[account] = claims
    const verifier = randomBytes(32).toString('base64url')
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const row = (await listed())[kind]
    const params = await fakes[kind].signIn(row, account, pkce && { code_challenge: challenge, code_challenge_method: 'S256' })
    before?.()
    const proof = { code: params.get('code'), redirect_uri: client.redirectURI, ...(pkce && { code_verifier: verifier }) }
    if (params.has('user')) proof.name = Object.values(JSON.parse(params.get('user')).name).join(' ')
    const response = await send(`/auth/${kind}`, { ...proof, ...more }, token)
    results.push([kind, what, response.status])
    assert.equal(response.status, status, `${kind}, ${what}: ${JSON.stringify(response.body)}`)
    return { ...response.body, proof }
  }

  // discovery: unreachable, then reachable
  assert.deepEqual(Object.keys(await listed()), ['apple', 'google', 'microsoft'])
  const down = await send('/auth/plain', { id_token: 'x' })
  results.push(['plain', 'discovery unreachable', down.status])
  assert.equal(down.status, 503)
  fakes.plain.up = true
  for (const end = Date.now() + 60_000; !(await listed()).plain; await wait(200)) assert.ok(Date.now() < end, 'the provider is not listed')
  const rows = await listed()
  assert.deepEqual(rows.plain, {
    id: 'plain', name: 'A plain provider', type: 'oidc', clientId: client.id, authorizationUrl: `${fakes.plain.address}/auth`,
    scopes: ['openid', 'email', 'profile'], pkce: true,
  })

  // as Google
  const ada = await check('google', 'new user', 201, '1', { email: 'ada@example.com', email_verified: true, name: 'Ada' })
  assert.ok(ada.user.emailVerified && ada.user.name === 'Ada')
  const again = await check('google', 'known user', 201, '1', { email: 'other@example.com', email_verified: true })
  assert.equal(again.user.id, ada.user.id)
  assert.equal((await send('/auth/google', again.proof)).status, 401, 'a code used twice')
  await check('google', 'address not verified', 409, '2', { email: 'bob@example.com', email_verified: false })
  await check('google', 'another verifier', 401, '1', {}, { more: { code_verifier: randomBytes(32).toString('base64url') } })
  await check('google', 'another redirect_uri', 401, '1', {}, { more: { redirect_uri: 'http://127.0.0.1:2/' } })
  await check('google', 'without PKCE', 201, '1', {}, { pkce: false })
  await check('google', 'keys rotate during the sign-in', 201, '1', {}, { before: () => fakes.google.rotate() })

  // as Microsoft
  const grace = await check('microsoft', 'new user', 201, '1', { tid: tenant, email: 'grace@example.com', email_verified: true, name: 'Grace' })
  assert.equal(grace.user.emailVerified, false)
  const known = await check('microsoft', 'known user', 201, '1', { tid: tenant })
  assert.equal(known.user.id, grace.user.id)
  await check('microsoft', 'the address of a user', 409, '2', { tid: tenant, email: 'ada@example.com' })
  const linked = await check('microsoft', 'linked by the user', 201, '2', { tid: tenant, email: 'ada@example.com' }, { token: ada.token })
  assert.equal(linked.user.id, ada.user.id)
  await check('microsoft', 'another tenant than the issuer', 401, '1', { tid: '9188040d-6c67-4c5b-b112-36a304b66dad' })
  await check('microsoft', 'no tenant', 401, '1', {})

  // as Apple
  assert.ok(rows.apple.authorizationUrl.endsWith('?response_mode=form_post'))
  const alan = await check('apple', 'new user; name and ES256 client secret', 201, '1', { email: 'alan@privaterelay.appleid.com', email_verified: 'true' })
  assert.ok(alan.user.emailVerified && alan.user.name === 'Ada Lovelace')
  const later = await check('apple', 'known user, without a name', 201, '1', { email: 'alan@privaterelay.appleid.com', email_verified: 'true' })
  assert.ok(later.user.id === alan.user.id && later.user.name === 'Ada Lovelace' && !later.proof.name)

  // as one that only the settings name: client_secret_basic, an issuer with a slash, ES256, unknown algorithms and keys
  const mary = await check('plain', 'email_verified as a string', 201, '1', { email: 'mary@example.com', email_verified: 'true' })
  assert.ok(mary.user.emailVerified)
  await check('plain', 'not verified, as a string', 409, '2', { email: 'eve@example.com', email_verified: 'false' })
  const same = await check('plain', 'the verified address of a user', 201, '3', { email: 'ada@example.com', email_verified: true })
  assert.equal(same.user.id, ada.user.id)
  await check('plain', 'ID token without sub', 401, 'no-sub', { email: 'x@example.com', email_verified: true })
  await check('plain', 'no address', 409, '4', {})
  await check('plain', 'keys rotate during the sign-in', 201, '1', {}, { before: () => fakes.plain.rotate() })
  const foreign = await send('/auth/plain', { access_token: 'x' })
  assert.equal(foreign.status, 400, 'an access token')
}))

for (const fake of Object.values(fakes)) fake.stop()
for (const [kind, what, status] of results) console.log(`${kind.padEnd(10)} ${String(status)}  ${what}`)
console.log(`${results.length} sign-ins`)
