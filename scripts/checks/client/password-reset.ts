import assert from 'node:assert/strict'
import { connect, data } from './guide/api.js'
import { type Service, signIn, signUp } from './account.js'

/** Resets a password: gets the email, shows the reset, and sets a new password. */
export async function run(service: Service) {
  const { created, user } = await signUp(service, 'grace@example.com', 'first compiler')
  const anonymous = connect(service.address)
  const requested = await anonymous['/password-resets'].POST({
    headers: { Authorization: `Bearer ${service.masterKey}` },
    body: { email: created.email, link: 'http://localhost:3000/reset/{token}' },
  })
  assert.equal(requested.response.status, 202)

  const [, token = ''] = await service.said(/http:\/\/localhost:3000\/reset\/([\w-]+)\n/)
  const path = { token }
  const reset = data(await anonymous['/password-resets/{token}'].GET({ params: { path } }))
  assert.equal(reset.user.name, 'grace')
  const common = await anonymous['/password-resets/{token}'].PUT({ params: { path }, body: { password: 'password1' } })
  assert.equal(common.error?.errors?.[0]?.code, 'too_common')
  data(await anonymous['/password-resets/{token}'].PUT({ params: { path }, body: { password: 'second compiler' } }))

  await assert.rejects(user['/users/me'].GET(), { status: 401 }) // the sessions have ended
  assert.equal((await signIn(service, created.email, 'first compiler')).response.status, 401)
  assert.equal(data(await signIn(service, created.email, 'second compiler')).user.id, created.id)
}
