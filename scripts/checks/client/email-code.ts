import assert from 'node:assert/strict'
import { type Service, signUp } from './account.js'
import { connect, data } from './guide/api.js'
import { Session } from './guide/session.mjs'

/** Signs in with codes by email: in Node.js, without a store, and with a second factor. */
export async function run(service: Service) {
  const { created: { email } } = await signUp(service, 'mary@example.com', 'mechanism of heaven')
  const session = new Session(service.address)
  const challenge = await session.requestEmailCode(email)
  const [, code = ''] = await service.said(/^Code: (\d{6})$/m)
  const wrong = code === '000000' ? '000001' : '000000'
  await assert.rejects(session.signInWithEmailCode(challenge, wrong), { status: 400, code: 'validation_failed' })
  assert.equal(await session.signedIn(), false)
  assert.equal((await session.signInWithEmailCode(challenge, code)).emailVerified, true)
  assert.equal(await session.signedIn(), true)

  const user = connect(service.address, session)
  const { secret } = data(await user['/users/me/two-factor'].POST())
  const { recoveryCodes: [recovery = ''] } = data(await user['/users/me/two-factor'].PUT({ body: { code: service.totp(secret) } }))
  const next = new Session(service.address)
  const second = await next.requestEmailCode(email)
  const [, newer = ''] = await service.said(/(?:^Code: (\d{6})$[^]*?){2}/m)
  const required = await next.signInWithEmailCode(second, newer).catch((problem) => problem)
  assert.equal(required.code, 'second_factor_required')
  assert.equal((await next.secondFactor(required.challenge, { recovery_code: recovery })).email, email)

  const sessions = data(await connect(service.address, next)['/auth/sessions'].GET())
  assert.deepEqual(sessions.rows.map(({ amr }) => amr), [['otp', 'mfa'], ['otp']])
}
