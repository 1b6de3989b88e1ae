// The browser test of Swagger UI: builds the service, starts it with an empty database, and uses /docs/ to sign
// up and in. The page must load without a request to any other host and without an error in the
// console; with a user token it must create and list articles, upload a picture, and keep the token after a reload: also behind a proxy
// that adds a prefix, and with the API under another root path. Another page uploads a picture with a file input, and shows it.
// Screenshots are saved in tmp/swagger.
//
//   npm --prefix scripts/checks/browser ci && npm --prefix scripts/checks/browser test
//
// It needs Go and a Chromium: the one that CHROMIUM names, or the first found in PATH.

import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { createServer, request as send } from 'node:http'
import { join } from 'node:path'
import { withBrowser } from './chromium.mjs'
import { root, withBuilt, withService } from './service.mjs'

const pictures = join(root, 'tmp', 'swagger')

/** Returns a PNG of one row of 1 or 2 black pixels, as a file for an input. */
function pixels(width) {
  const data = {
    1: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==',
    2: 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAAAAADRSSBWAAAAC0lEQVR42mNgYAAAAAMAASsJTYQAAAAASUVORK5CYII=',
  }
  return { name: 'pixels.png', mimeType: 'image/png', buffer: Buffer.from(data[width], 'base64') }
}

const uploadPage = `<link rel="icon" href="data:,"><input type="file" id="file"><img id="shown" alt="">
<script type="module">
  file.onchange = async () => {
    const body = new FormData()
    body.append('picture', file.files[0])
    const [api, token] = location.hash.slice(1).split(',')
    const user = await fetch(api + '/users/me/picture', { method: 'PUT', headers: { Authorization: 'Bearer ' + token }, body })
    shown.src = (await user.json()).picture
  }
</script>`

/**
 * Calls job with the address of a proxy that removes a prefix and forwards to the target, as nginx does, and with a function that sets
 * the target. Without the prefix, the proxy serves uploadPage at /, and forwards the rest.
 */
async function withProxy(prefix, job) {
  let target
  const proxy = createServer((request, response) => {
    if (request.url === '/') return response.setHeader('Content-Type', 'text/html; charset=utf-8').end(uploadPage)
    const headers = { ...request.headers, host: new URL(target).host }
    const path = request.url.startsWith(`${prefix}/`) ? request.url.slice(prefix.length) : request.url
    const onward = send(target + path, { method: request.method, headers }, (result) => {
      response.writeHead(result.statusCode, result.headers)
      result.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  try {
    await job(`http://127.0.0.1:${proxy.address().port}${prefix}`, (address) => { target = address })
  } finally {
    proxy.closeAllConnections()
    await new Promise((resolve) => proxy.close(resolve))
  }
}

/** Records errors of a page, and its requests to other addresses than the given one. */
function watch(page, address) {
  const faults = []
  page.on('request', (request) => {
    const url = request.url()
    if (!/^(data|blob):/.test(url) && !url.startsWith(`${address}/`)) faults.push(`a request to another address: ${url}`)
  })
  page.on('requestfailed', (request) => faults.push(`failed: ${request.url()} ${request.failure()?.errorText}`))
  page.on('console', (message) => {
    // Swagger UI logs this for its own links to operations.
    const deprecated = message.text().startsWith('Deprecated: escaping deep link')
    if (message.type() === 'error' && !deprecated) faults.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`error in the page: ${error.message}`))
  return faults
}

/** Executes an operation with parameters, a body or a file; resolves to the displayed status and body. */
async function execute(page, method, path, { parameters = {}, json, file }) {
  const block = page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${path}"]`) })
  if (!(await block.getByRole('button', { name: 'Execute' }).isVisible())) {
    await block.locator('.opblock-summary-control').click()
  }
  for (const [name, value] of Object.entries(parameters)) {
    await block.locator(`[data-param-name="${name}"]`).locator('input').first().fill(value)
  }
  if (json) {
    const type = block.locator('.opblock-section-request-body select').first()
    assert.equal(await type.inputValue(), 'application/json', 'what the body is, before anything is chosen')
    await block.locator('.body-param__text').fill(JSON.stringify(json))
  }
  if (file) await block.locator('input[type=file]').setInputFiles(file)
  await block.getByRole('button', { name: 'Execute' }).click()
  const result = block.locator('.live-responses-table')
  const body = result.locator('.response-col_description pre').first()
  await body.waitFor()
  await result.scrollIntoViewIfNeeded()
  const status = await result.locator('.response-col_status').last().innerText()
  return { status: status.trim(), body: await body.innerText() }
}

/** Opens the page and waits for the operations. */
async function open(page, address) {
  await page.goto(`${address}/docs/`, { waitUntil: 'commit' }) // on a busy machine, load may take longer than the timeout
  await page.getByText('Create an article').waitFor()
  const methods = await page.locator('#operations-tag-articles ~ .no-margin .opblock-summary-method').allInnerTexts()
  assert.deepEqual(methods, ['GET', 'POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'GET'], 'the order of the operations on articles')
}

/** Enters a credential; picture saves a screenshot of the dialog. */
async function authorise(page, scheme, values, picture = () => {}) {
  await page.locator('.auth-wrapper > .authorize').click()
  const box = page.locator('.auth-container', { has: page.locator('h4', { hasText: new RegExp(`^${scheme}\\s`) }) })
  for (const [i, value] of values.entries()) await box.locator('input').nth(i).fill(value)
  await box.locator('button', { hasText: 'Authorize' }).click()
  await box.locator('button', { hasText: 'Logout' }).waitFor()
  await picture()
  await page.locator('.dialog-ux .close-modal').click()
}

/** Signs a user up and in with the examples that the page has; resolves to the user's token, which the page keeps. */
async function signIn(page, masterKey, picture) {
  await authorise(page, 'MasterKey', [masterKey], () => picture('2-authorised'))
  const created = await execute(page, 'post', '/users', {})
  assert.equal(created.status, '201', created.body)
  await authorise(page, 'BasicAuth', ['ada@example.com', 'correct horse battery'])
  const signedIn = await execute(page, 'post', '/auth', {})
  assert.equal(signedIn.status, '201', signedIn.body)
  return JSON.parse(signedIn.body).token
}

/** Creates an article and lists it with the token that was entered, which must be kept after a reload. */
async function tour(page, title, picture) {
  const created = await execute(page, 'post', '/articles', { json: { title, content: 'A root worth waiting for.' } })
  assert.equal(created.status, '201', created.body)
  assert.equal(JSON.parse(created.body).title, title)
  await picture('3-created')

  const listed = await execute(page, 'get', '/articles', { parameters: { q: title, 'createdAt[gte]': '2026-01-01T00:00:00Z' } })
  assert.equal(listed.status, '200', listed.body)
  assert.equal(JSON.parse(listed.body).count, 1)
  await picture('4-listed')
  const none = await execute(page, 'get', '/articles', { parameters: { 'createdAt[gte]': '2999-01-01T00:00:00Z' } })
  assert.equal(JSON.parse(none.body).count, 0)

  const uploaded = await execute(page, 'put', '/users/{id}/picture', { parameters: { id: 'me' }, file: pixels(2) })
  assert.equal(uploaded.status, '200', uploaded.body)
  assert.match(JSON.parse(uploaded.body).picture, /^http.*\/users\/[0-9a-f]{24}\/picture\?v=/)

  await page.reload()
  await page.getByText('Create an article').waitFor()
  const again = await execute(page, 'post', '/articles', { json: { title: 'After a reload' } })
  assert.equal(again.status, '201', `the token is lost: ${again.body}`)
}

/** Runs all steps in a new page, after authorising it with enter. */
async function visit(browser, address, name, enter) {
  const begun = Date.now()
  const page = await browser.newPage()
  const faults = watch(page, address)
  const picture = (moment) => page.screenshot({ path: join(pictures, `${name}-${moment}.png`) })
  try {
    await open(page, address)
    await picture('1-opened')
    await page.screenshot({ path: join(pictures, `${name}-readme.png`), clip: { x: 0, y: 0, width: 1280, height: 780 } }) // docs/swagger-ui.png
    await enter(page, picture)
    await tour(page, name, picture)
  } catch (error) {
    await picture('failed')
    throw error
  } finally {
    for (const fault of faults) console.error(fault)
    await page.close()
  }
  assert.equal(faults.length, 0, 'the page did what it should not')
  console.log(`${name}: creates and lists articles, and keeps the token over a reload (${Date.now() - begun} ms)`)
}

/** Uploads a picture with the file input of uploadPage, which then shows it with its link. */
async function checkUpload(browser, origin, api, token) {
  const page = await browser.newPage()
  const faults = watch(page, origin)
  await page.goto(`${origin}/#${api},${token}`)
  for (const width of [1, 2]) {
    await page.locator('input').setInputFiles(pixels(width))
    await page.waitForFunction((wanted) => document.querySelector('img').naturalWidth === wanted, width)
  }
  await page.close()
  assert.deepEqual(faults, [], 'faults of the page that uploads a picture')
  console.log('a file input uploads a picture, and <img> shows it')
}

/** Opens operations on a screen of the width of a phone, which nothing may exceed. */
async function checkPhone(browser, address) {
  const page = await browser.newPage()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${address}/docs/`, { waitUntil: 'commit' })
  for (const method of ['get', 'post']) {
    const block = page.locator(`.opblock-${method}`, { has: page.locator('[data-path="/articles"]') })
    await block.locator('.opblock-summary-control').click()
    await block.getByRole('button', { name: 'Execute' }).waitFor()
  }
  const wide = await page.evaluate(() => [...document.querySelectorAll('#swagger-ui *')]
    .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1).map((element) => `${element.tagName}.${element.className}`))
  await page.screenshot({ path: join(pictures, 'phone.png') })
  await page.close()
  assert.deepEqual(wide, [], 'elements exceed the width of a phone')
}

await withBuilt((binary, dir) => withBrowser(dir, async (browser) => {
  rmSync(pictures, { recursive: true, force: true })
  mkdirSync(pictures, { recursive: true })
  for (const [name, settings] of [['plain', {}], ['root', { API_ROOT: '/api/v1' }]]) {
    await withProxy('/x/y', (proxied, forwardTo) => withService(binary, { PUBLIC_URL: new URL(proxied).origin, ...settings }, async ({ address, masterKey }) => {
      forwardTo(address)
      let token
      await visit(browser, address, name, async (page, picture) => { token = await signIn(page, masterKey, picture) })
      if (name === 'plain') await checkPhone(browser, address)
      await visit(browser, proxied, `${name}-proxied`, (page) => authorise(page, 'UserToken', [token]))
      await checkUpload(browser, new URL(proxied).origin, settings.API_ROOT ?? '', token)
    }))
  }
  await withService(binary, { DOCS: 'false' }, async ({ address }) => {
    for (const path of ['/docs/', '/docs/doc.json', '/openapi.json']) {
      assert.equal((await fetch(address + path)).status, 404, `${path} with DOCS=false`)
    }
  })
}))
console.log(`what the pages showed: ${pictures}`)
