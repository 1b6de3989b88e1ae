// Admins who lose their rights while they work in the admin page: nothing that they have entered is lost.

import assert from 'node:assert/strict'
import { createAdmin, withAdmin } from './admin-page.mjs'
import { totp } from './totp.mjs'

/** Another admin demotes and suspends the admin of the page. */
export async function rights(browser, service, pictures) {
  const boss = await createAdmin(service, 'boss')
  const worker = await createAdmin(service, 'worker')
  await boss.signIn()
  const { id } = await boss.post('/articles', { title: 'Root', content: 'A root.' })
  const become = (changes) => boss.patch(`/users/${worker.user.id}`, changes)
  return withAdmin(browser, service.address, pictures, async (admin) => {
    const { page } = admin
    const problem = (text) => page.getByRole('alert').filter({ hasText: text }).waitFor()
    await page.goto(`${service.address}/admin/#/articles/${id}`)
    await admin.signIn(worker.account, service.masterKey)
    await page.getByLabel('Content').fill('Written as an admin')
    await become({ role: 'user' })
    await admin.click('Save')
    await problem('but not change it')
    await admin.check('save without rights')
    assert.equal(await page.getByLabel('Content').inputValue(), 'Written as an admin')
    await page.reload()
    await problem('admin')
    await admin.check('no admin any more')
    await admin.click('Sign out')
    await page.getByRole('dialog').getByText('Changes that are not saved are lost.').waitFor()
    await admin.click('Cancel')
    await become({ role: 'admin' })
    await admin.click('Retry')
    await page.getByText('are restored').waitFor()
    await become({ suspended: true })
    await admin.check('restored')
    await admin.click('Save')
    await problem('suspended')
    await admin.check('sign in again when suspended')
    await become({ suspended: false })
    await admin.fill({ Password: worker.account.password, 'Master key': service.masterKey })
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in', exact: true }).click()
    await admin.saved()
    assert.equal((await boss.get(`/articles/${id}`)).content, 'Written as an admin')
    return boss.document()
  })
}

/** The service requires a second factor of admins. */
export async function requiredFactor(browser, service, pictures) {
  const { account } = await createAdmin(service, 'carol')
  return withAdmin(browser, service.address, pictures, async (admin) => {
    const { page } = admin
    const problem = () => page.getByRole('alert').filter({ hasText: 'two-factor' }).waitFor()
    const enrol = async () => {
      const { secret } = await admin.send('POST', '/users/me/two-factor', {})
      await admin.send('PUT', '/users/me/two-factor', { code: totp(secret) })
      return secret
    }
    await page.goto(`${service.address}/admin/`)
    await admin.signIn(account)
    await problem()
    await admin.check('second factor required')
    const secret = await enrol()
    await admin.click('Retry')
    await admin.open('/articles/new')
    await admin.fill({ Title: 'Written with a second factor', Content: 'Text' })
    await admin.send('DELETE', '/users/me/two-factor', { code: totp(secret, 1) })
    await admin.click('Create')
    await problem()
    assert.equal(await page.getByLabel('Content').inputValue(), 'Text')
    await enrol()
    await admin.click('Retry')
    await page.getByRole('heading', { name: 'Written with a second factor' }).waitFor()
    return admin.send('GET', '/admin/openapi.json')
  })
}
