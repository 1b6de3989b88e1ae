// Long lists in the admin page: changes of several records of which some fail or are stopped, exports that are too long for a browser. Also
// an API that changes, and a proxy that adds a prefix to the path.

import assert from 'node:assert/strict'
import { createServer, request as send } from 'node:http'
import { createAdmin, withAdmin } from './admin-page.mjs'

/** Opens the list of articles with a text, selects all of its rows, and starts a change of their content. */
async function changeAll(admin, text, content) {
  const { page } = admin
  await admin.open('/articles', { q: text })
  await page.locator('.count', { hasText: /^12$/ }).waitFor()
  await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
  await page.getByLabel('Select all rows').check()
  await admin.click('Change…')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Field').selectOption('content')
  await dialog.getByLabel('New value').fill(content)
  return () => dialog.getByRole('button', { name: 'Change 12 records' }).click()
}

/** Without transactions, records are changed one by one: some fail, and the rest can be stopped. */
async function oneByOne(admin, api) {
  const { page } = admin
  const dialog = page.getByRole('dialog')
  const articles = []
  for (let i = 0; i < 12; i++) articles.push(await api.post('/articles', { title: `Herb ${i}`, content: 'old' }))
  const changed = async (content) => (await api.get('/articles?q=herb&limit=100')).rows.filter((row) => row.content === content).length
  const problem = { status: 501, code: 'not_supported', title: 'Not Implemented', detail: 'No transactions.', type: 'about:blank', requestId: 'x' }
  await page.route('**/batch', (route) => route.fulfill({ status: 501, contentType: 'application/problem+json', body: JSON.stringify(problem) }))
  const start = await changeAll(admin, 'herb', 'new')
  for (const { id } of articles.slice(3, 5)) await api.patch(`/articles/${id}`, { content: 'of another admin' })
  await start()
  await dialog.getByText('10 records changed').waitFor()
  await dialog.getByText('Herb 3: It was changed in the meantime.').waitFor()
  await admin.check('failures of a bulk change')
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('2 records selected').waitFor()
  assert.equal(await changed('new'), 10)

  const again = await changeAll(admin, 'herb', 'stopped')
  let release
  const stopped = new Promise((resolve) => { release = resolve })
  await page.route('**/articles/*', (route) => stopped.then(() => route.continue()))
  await again()
  await admin.click('Stop')
  release()
  await dialog.getByText('1 of 12, stopped').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('11 records selected').waitFor()
  assert.equal(await changed('stopped'), 1)
  await admin.open('/articles', { q: 'herb 1' })
  await page.locator('.count', { hasText: /^3$/ }).waitFor() // 1, 10, 11
  await page.getByText('records selected').waitFor({ state: 'detached' })
  await page.unroute('**/articles/*')
  await page.unroute('**/batch')
  await page.getByLabel('Select all rows').check()
  await page.keyboard.press('/')
  assert.ok(await page.evaluate(() => document.activeElement.matches('[type=search]')), 'the search has not the focus')
  await page.getByRole('button', { name: 'Title' }).click()
  await page.getByText('records selected').waitFor({ state: 'detached' })
  admin.faults.splice(0).forEach((fault) => assert.match(fault, /501 \(Not Implemented\)/))
}

/** A list and an export that take long. */
async function slowly(admin) {
  const { page } = admin
  let release
  const released = new Promise((resolve) => { release = resolve })
  await admin.open('/articles', { q: 'herb' })
  await page.locator('.count', { hasText: /^12$/ }).waitFor()
  await page.route('**/articles?*', (route) => released.then(() => route.continue().catch(() => {}))) // unless it is aborted
  await page.getByRole('button', { name: 'Title' }).click()
  await page.getByText('Loading…').waitFor()
  await page.getByText('Export', { exact: true }).click()
  await admin.click('CSV')
  await admin.click('Stop export (0 of 12 rows)')
  await page.getByText('No file is saved.').waitFor()
  release()
  await page.getByText('Loading…').waitFor({ state: 'detached' })
  await page.unroute('**/articles?*')
}

/** A list of more than 200,000 rows, which the service counts, or which the export turns out to have. */
async function longExport(admin) {
  const { page } = admin
  const dialog = page.getByRole('dialog')
  for (const [count, countCapped] of [[200_001, undefined], [10_000, true]]) {
    await page.route('**/articles?*', async (route) => {
      if (route.request().url().includes('format=')) return route.fulfill({ contentType: 'text/csv', body: 'title\n'.repeat(200_002) })
      const response = await route.fetch()
      return route.fulfill({ response, json: { ...await response.json(), count, countCapped } })
    })
    await admin.open('/articles', { sort: count === 10_000 ? '-title' : 'title' })
    await page.locator('.count', { hasText: count === 10_000 ? 'more than 10,000' : '200,001' }).waitFor()
    await page.getByText('Export', { exact: true }).click()
    await admin.click('CSV')
    await dialog.getByText('export articles articles.csv').waitFor()
    if (!countCapped) await admin.check('long export')
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.unroute('**/articles?*')
  }
}

/** The service starts with another API while the page is open. */
async function newDocument(admin) {
  const { page } = admin
  const show = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  const document = page.waitForResponse('**/admin/openapi.json')
  await show()
  await (await document).finished()
  await page.route('**/admin/openapi.json', async (route) => {
    const response = await route.fetch()
    return route.fulfill({ response, headers: { ...response.headers(), etag: '"other"' } })
  }, { times: 1 })
  await show()
  await page.getByText('The API has changed.').waitFor()
  assert.equal(await page.getByText('The API has changed.').count(), 1)
  await admin.click('Reload')
  await page.getByText('The API has changed.').waitFor({ state: 'detached' })
}

export async function lists(browser, service, pictures) {
  const api = await createAdmin(service, 'lister')
  await api.signIn()
  return withAdmin(browser, service.address, pictures, async (admin) => {
    await admin.page.goto(`${service.address}/admin/`)
    await admin.signIn(api.account, service.masterKey)
    await admin.page.getByRole('heading', { name: 'Overview' }).waitFor()
    await oneByOne(admin, api)
    await slowly(admin)
    await longExport(admin)
    await newDocument(admin)
    return api.document()
  })
}

/** The page behind a proxy that removes a prefix from the path. */
export async function behindProxy(browser, service, pictures) {
  const api = await createAdmin(service, 'proxied')
  await api.signIn()
  const { id } = await api.post('/articles', { title: 'Behind a proxy', content: 'Text' })
  const proxy = createServer((request, response) => {
    const { pathname, search } = new URL(request.url, service.address)
    if (!pathname.startsWith('/team/')) return response.writeHead(502).end()
    const options = { method: request.method, headers: request.headers }
    request.pipe(send(service.address + pathname.slice('/team'.length) + search, options, (answer) => answer.pipe(response.writeHead(answer.statusCode, answer.headers))))
  })
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  try {
    const address = `http://127.0.0.1:${proxy.address().port}/team`
    return await withAdmin(browser, address, pictures, async (admin) => {
      await admin.page.goto(`${address}/admin`)
      await admin.signIn(api.account, service.masterKey)
      await admin.page.getByRole('heading', { name: 'Overview' }).waitFor()
      await admin.open(`/articles/${id}`)
      await admin.fill({ Content: 'Changed' })
      await admin.click('Save')
      await admin.saved()
      return api.document()
    })
  } finally {
    proxy.closeAllConnections()
    proxy.close()
  }
}
