import assert from 'node:assert/strict'
import { createClient } from 'ginseng-client'
import type { Service } from './service.js'

/** Resets a password: gets the email, shows the reset, and sets a new password. */
export async function run({ address: url, masterKey, said }: Service) {
  const server = createClient({ url, masterKey })
  const email = 'grace@example.com'
  await server.session.signUp({ email, password: 'first compiler' })
  await server.request('POST', '/password-resets', { body: { email, link: 'http://localhost:3000/reset/{token}' } })

  const [, token = ''] = await said(/http:\/\/localhost:3000\/reset\/([\w-]+)\n/)
  const params = { path: { token } }
  const page = createClient({ url })
  assert.equal((await page.request('GET', '/password-resets/{token}', { params })).user.name, 'grace')
  const common = await page.request('PUT', '/password-resets/{token}', { params, body: { password: 'password1' } }).catch((problem: unknown) => problem)
  assert.deepEqual(Object(common).errors.password?.map(({ code }: { code: string }) => code), ['too_common'])
  await page.request('PUT', '/password-resets/{token}', { params, body: { password: 'second compiler' } })

  await assert.rejects(server.request('GET', '/users/me'), { status: 401 }) // the sessions have ended
  await assert.rejects(page.session.signIn({ email, password: 'first compiler' }), { status: 401 })
  assert.equal((await page.session.signIn({ email, password: 'second compiler' })).email, email)
}
