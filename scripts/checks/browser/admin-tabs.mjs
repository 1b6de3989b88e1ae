// Two tabs of the admin page: they have one session, whichever of them refreshes it, signs out or signs in again.

import assert from 'node:assert/strict'
import { createAdmin, password, stateOf, withAdmin } from './admin-page.mjs'
import { watch } from './page.mjs'

export async function tabs(browser, service, pictures) {
  const api = await createAdmin(service, 'tabber')
  await api.signIn()
  const { id } = await api.post('/articles', { title: 'In two tabs', content: 'Text' })
  return withAdmin(browser, service.address, pictures, async (admin) => {
    const { page } = admin
    await page.goto(`${service.address}/admin/`)
    await admin.signIn(api.account, service.masterKey)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await admin.open('/articles', { q: 'tabs' })
    const [second] = await Promise.all([browser.waitForEvent('page'), page.getByRole('link', { name: 'In two tabs' }).click({ modifiers: ['Control'] })])
    const faults = watch(second, [service.address])
    await second.getByRole('heading', { name: 'In two tabs' }).waitFor()
    const token = (tab) => tab.evaluate(stateOf, false).then((state) => state?.refreshToken)

    // Each refresh is used by both tabs, also when both need one.
    const old = await second.evaluate(() => ({ ...sessionStorage }))
    for (let i = 0; i < 3; i++) {
      const former = await token(page)
      for (const tab of [page, second]) await tab.evaluate(stateOf, true)
      await Promise.all([page.reload(), second.reload()])
      await second.getByLabel('Content').waitFor()
      await page.locator('tbody .open').first().waitFor()
      assert.notEqual(await token(page), former)
      assert.equal(await token(page), await token(second))
    }
    // A tab that the browser has suspended for long has an old token, which would end the session.
    await second.evaluate((items) => {
      sessionStorage.clear()
      for (const [key, value] of Object.entries(items)) sessionStorage.setItem(key, value)
    }, old)
    await second.evaluate(stateOf, true)
    const rotated = second.waitForRequest('**/auth/refresh', { timeout: 3000 }).then(() => 'refreshed', () => 'asked')
    await second.reload()
    await second.getByLabel('Content').waitFor()
    assert.equal(await rotated, 'asked')
    assert.equal(await token(page), await token(second))

    // The end of the session and the next one reach the other tab, whose form stays.
    await second.getByLabel('Content').fill('Written in the second tab')
    await admin.click('Sign out')
    await page.getByLabel('Email').waitFor()
    await second.getByText('Your session has ended').waitFor()
    assert.equal(await token(second), undefined)
    assert.equal(await second.getByLabel('Content').inputValue(), 'Written in the second tab')
    await admin.signIn(api.account, service.masterKey)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await second.getByRole('dialog').waitFor({ state: 'detached' })
    await second.getByRole('button', { name: 'Save', exact: true }).click()
    await second.locator('.toast', { hasText: 'Saved.' }).waitFor()
    assert.equal((await api.get(`/articles/${id}`)).content, 'Written in the second tab')
    assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((key) => !key.startsWith('columns of'))), [])

    // The tab in which the master key was entered does not keep it.
    await second.getByRole('button', { name: 'Sign out' }).click()
    await second.getByLabel('Email').waitFor()
    await page.getByText('Your session has ended').waitFor()
    await admin.click('Cancel')
    await page.evaluate(() => { location.hash = '#/users/new' })
    await page.getByRole('heading', { name: 'New user' }).waitFor()
    await admin.fill({ Email: 'keyless@example.com', Password: password })
    await admin.click('Create')
    await page.locator('[data-field=masterKey] .error', { hasText: 'The master key is required.' }).waitFor()
    await api.signIn()
    assert.equal((await api.get('/users?q=keyless')).count, 0)

    // Another admin who signs in in a tab does not get its forms.
    const left = () => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('draft')))
    assert.deepEqual(await left(), ['draft of /users/new'])
    await page.reload()
    await admin.signIn((await createAdmin(service, 'successor')).account, service.masterKey)
    await page.getByRole('heading', { level: 1, name: 'New user' }).waitFor()
    assert.deepEqual(await left(), [])
    await second.close()
    assert.deepEqual(faults, [])
    return api.document()
  })
}
