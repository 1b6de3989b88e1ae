// The browser test of Swagger UI: builds the service, starts it with an empty database, and uses /docs/ as a person
// does. The page must load without a request to any other host and without an error in the console; with a user token it
// must create and list articles, and remember the token over a reload. What it saw is saved as tmp/swagger-*.png.
//
//   npm --prefix scripts/browser ci && npm --prefix scripts/browser test
//
// It needs Go and a Chromium: the one that CHROMIUM names, or the first found in PATH.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pictures = join(root, 'tmp')
const masterKey = randomBytes(32).toString('hex')
const patience = 20_000 // ms, for anything that a page shows

/** Finds the browser. */
function findChromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    for (const dir of process.env.PATH.split(delimiter)) {
      if (existsSync(join(dir, name))) return join(dir, name)
    }
  }
  throw new Error('no Chromium found; install one, or set CHROMIUM to its path')
}

/** Builds the service into dir and starts it there; resolves to its process and its address. */
async function startService(dir) {
  const binary = join(dir, 'ginseng')
  const build = spawnSync('go', ['build', '-o', binary, '.'], { cwd: root, stdio: 'inherit' })
  assert.equal(build.status, 0, 'go build')
  const service = spawn(binary, {
    cwd: dir, // where there is no .env
    env: {
      PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', DATABASE_URL: 'sqlite:test.db',
      MASTER_KEY: masterKey, JWT_SECRET: randomBytes(32).toString('hex'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: service.stdout })) {
    const address = line.match(/^Server listening on (http:\/\/[^,]+),/)?.[1]
    if (address) return { service, address }
  }
  throw new Error('the service ended before it listened')
}

/** Signs a user up and in, and returns her token. */
async function signIn(address) {
  const [email, password] = ['ada@example.com', 'analytical engine']
  const post = async (path, parameters, headers) => {
    const body = new URLSearchParams({ access_token: masterKey, ...parameters })
    const answer = await fetch(address + path, { method: 'POST', body, headers })
    assert.equal(answer.status, 201, path)
    return answer.json()
  }
  await post('/users', { email, password })
  const basic = Buffer.from(`${email}:${password}`).toString('base64')
  return (await post('/auth', {}, { Authorization: `Basic ${basic}` })).token
}

/** Notes everything that a page should not do. */
function watch(page, address) {
  const faults = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.protocol !== 'data:' && url.protocol !== 'blob:' && url.origin !== address) {
      faults.push(`a request to another host: ${url}`)
    }
  })
  page.on('requestfailed', (request) => faults.push(`failed: ${request.url()} ${request.failure()?.errorText}`))
  page.on('console', (message) => {
    // Swagger UI says this of the links to operations that it writes itself.
    const deprecated = message.text().startsWith('Deprecated: escaping deep link')
    if (message.type() === 'error' && !deprecated) faults.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`error in the page: ${error.message}`))
  return faults
}

/** Opens an operation's block, fills in its parameters and executes it; resolves to the status shown. */
async function execute(page, method, path, parameters) {
  const block = page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${path}"]`) })
  if (!(await block.getByRole('button', { name: 'Execute' }).isVisible())) {
    await block.locator('.opblock-summary-control').click()
    await block.getByRole('button', { name: 'Try it out' }).click()
  }
  for (const [name, value] of Object.entries(parameters)) {
    await block.locator(`[data-param-name="${name}"]`).locator('input, textarea').first().fill(value)
  }
  await block.getByRole('button', { name: 'Execute' }).click()
  const answer = block.locator('.live-responses-table')
  const body = answer.locator('.response-col_description pre').first()
  await body.waitFor()
  await answer.scrollIntoViewIfNeeded()
  const status = await answer.locator('.response-col_status').last().innerText()
  return { status: status.trim(), body: await body.innerText() }
}

/** Saves what the page shows. */
async function picture(page, name) {
  await page.screenshot({ path: join(pictures, `swagger-${name}.png`) })
}

/** Does what a person does with the page. */
async function tour(page, address, token) {
  await page.goto(`${address}/docs/`)
  await page.getByText('Create an article').waitFor()
  await picture(page, '1-opened')

  await page.getByRole('button', { name: 'Authorize' }).first().click()
  const user = page.locator('.auth-container', { has: page.getByText('UserToken', { exact: false }) })
  await user.locator('input').fill(`Bearer ${token}`)
  await user.locator('button', { hasText: 'Authorize' }).click()
  await user.locator('button', { hasText: 'Logout' }).waitFor()
  await picture(page, '2-authorised')
  await page.locator('.dialog-ux button', { hasText: 'Close' }).last().click()

  const article = { title: 'On ginseng', content: 'A root worth waiting for.' }
  const created = await execute(page, 'post', '/articles', article)
  assert.equal(created.status, '201', created.body)
  assert.match(created.body, /"title": "On ginseng"/)
  await picture(page, '3-created')

  const listed = await execute(page, 'get', '/articles', { q: 'ginseng' })
  assert.equal(listed.status, '200', listed.body)
  assert.match(listed.body, /"count": 1/)
  await picture(page, '4-listed')

  await page.reload()
  await page.getByText('Create an article').waitFor()
  const again = await execute(page, 'post', '/articles', { title: 'After a reload', content: '' })
  assert.equal(again.status, '201', `the token is lost: ${again.body}`)
}

const dir = mkdtempSync(join(tmpdir(), 'browser-'))
let running, browser
try {
  running = await startService(dir)
  const token = await signIn(running.address)
  browser = await chromium.launchPersistentContext(join(dir, 'profile'), {
    executablePath: findChromium(),
    viewport: { width: 1280, height: 1600 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  })
  browser.setDefaultTimeout(patience)
  const page = browser.pages()[0] ?? await browser.newPage()
  const faults = watch(page, running.address)
  mkdirSync(pictures, { recursive: true })
  try {
    await tour(page, running.address, token)
  } finally {
    await picture(page, '5-end')
    for (const fault of faults) console.error(fault)
  }
  assert.equal(faults.length, 0, 'the page did what it should not')
  console.log('Swagger UI loads from the service alone, creates and lists articles, and keeps the token over a reload.')
} finally {
  await browser?.close()
  if (running) {
    running.service.kill('SIGTERM')
    if (running.service.exitCode === null) await new Promise((resolve) => running.service.once('exit', resolve))
  }
  rmSync(dir, { recursive: true, force: true })
}
