// What the browser test of the admin page does with the page and, as another admin, with the API.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { watch } from './page.mjs'

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

export const email = 'ada@example.com', password = 'analytical engine'

/** Runs in the page: returns the elements that exceed its width. */
function wide() {
  if (document.documentElement.scrollWidth <= innerWidth) return []
  const inScroll = (element) => element.closest('.scroll, textarea, pre, .names')
  return [...document.querySelectorAll('body *')].filter((element) => !inScroll(element) && element.getBoundingClientRect().right > innerWidth + 1).map((element) => `${element.tagName}.${element.className}`)
}

/** Runs in the page: the state of the session, in which the token seems to have expired if expire is set. */
export function stateOf(expire) {
  const key = Object.keys(sessionStorage).find((key) => key.startsWith('session of'))
  if (!key) return undefined
  const state = JSON.parse(sessionStorage.getItem(key))
  if (expire) sessionStorage.setItem(key, JSON.stringify({ ...state, refreshAt: 1 }))
  return state
}

/** Runs in the page: sends a request with the token of the page. */
async function sendFromPage([method, path, body]) {
  const { token } = JSON.parse(Object.entries(sessionStorage).find(([key]) => key.startsWith('session of'))[1])
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const response = await fetch(`..${path}`, { method, headers, body: JSON.stringify(body) })
  return response.status === 204 ? undefined : response.json()
}

/** The page of an admin. */
export class Admin {
  checked = 0
  requests = new Set()

  constructor(page, address, pictures) {
    Object.assign(this, { page, address, pictures, faults: watch(page, [address, `blob:${address}`]) })
    page.on('request', (request) => this.requests.add(`${request.method()} ${request.url()}`))
  }

  /** Signs in with a password. masterKey is for services that require it. */
  async signIn({ email, password }, masterKey) {
    await this.fill({ Email: email, Password: password, ...(masterKey && { 'Master key': masterKey }) })
    await this.click('Sign in')
  }

  async open(path, query = {}) {
    await this.page.goto(`${this.address}/admin/#${path}?${new URLSearchParams(query)}`)
    await this.page.getByRole('heading', { level: 1 }).waitFor()
  }

  /** Fills fields by their labels. */
  async fill(values) {
    for (const [label, value] of Object.entries(values)) {
      const field = this.page.getByLabel(label, { exact: true }).or(this.page.getByLabel(new RegExp(`^${label}\\*?$`))).first()
      await field.fill(value)
    }
  }

  /** Sends a request with the token of the page. Resolves to the body. */
  send(method, path, body) {
    return this.page.evaluate(sendFromPage, [method, path, body])
  }

  async click(name) {
    await this.page.getByRole('button', { name, exact: true }).first().click()
  }

  /** Waits for the message that a record is saved, and dismisses it without a change of the focus. */
  async saved() {
    const message = this.page.locator('.toast', { hasText: 'Saved.' })
    await message.waitFor()
    await message.getByLabel('Dismiss').dispatchEvent('click')
    await message.waitFor({ state: 'detached' })
  }

  /** Chooses a record by a search of its title. */
  async pick(label, text, title) {
    const field = this.page.getByRole('combobox', { name: new RegExp(`^${label}\\*?$`) })
    await field.click()
    await field.fill(text)
    await this.page.locator('li[role=option]:visible', { hasText: title }).first().click()
  }

  /** Checks a screen on a phone, a tablet and wide screens, in both color schemes. */
  async check(name) {
    const { page } = this
    if (!await page.evaluate(() => Boolean(window.axe))) await page.evaluate(axe)
    for (const [width, scheme] of [[390, 'dark'], [768, 'light'], [1920, 'dark'], [1280, 'light']]) {
      await page.setViewportSize({ width, height: width < 500 ? 844 : 900 })
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      await page.screenshot({ path: join(this.pictures, `${name.replaceAll(' ', '-')}-${width}-${scheme}.png`) })
      assert.deepEqual(await page.evaluate(wide), [], `${name} at ${width} px`)
      const violations = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ').slice(0, 400)}`)))
      assert.deepEqual(violations, [], `${name} at ${width} px, ${scheme}`)
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    this.checked++
  }
}

/** Returns the requests that the API document does not describe: their operation, or a parameter of their query. */
function undescribed({ requests, address: base }, { paths }) {
  return [...requests].map((text) => text.split(' ')).filter(([method, address]) => {
    if (address.startsWith('blob:')) return false
    const { pathname, searchParams } = new URL(address.slice(base.length), 'http://localhost')
    if (/^\/admin(\/|$)/.test(pathname)) return false
    const matches = ([path, operations]) => method.toLowerCase() in operations && new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname)
    const [found] = Object.entries(paths).filter(matches).sort(([a], [b]) => a.split('{').length - b.split('{').length)
    const known = found?.[1][method.toLowerCase()].parameters?.map(({ name }) => name) ?? []
    return !found || [...searchParams.keys()].some((name) => !known.includes(name))
  }).map((request) => request.join(' '))
}

/**
 * Calls job with an admin page, which must do nothing that it should not. job resolves to the API document, which must describe all requests
 * of the page. Resolves to the number of checked screens.
 */
export async function withAdmin(browser, address, pictures, job) {
  const admin = new Admin(await browser.newPage(), address, pictures)
  try {
    assert.deepEqual(undescribed(admin, await job(admin)), [], 'the document does not describe a request')
    assert.deepEqual(admin.faults, [], 'the page did what it should not')
  } catch (error) {
    await admin.page.screenshot({ path: join(pictures, 'failed.png') })
    throw error
  } finally {
    for (const fault of admin.faults) console.error(fault)
    await admin.page.close()
  }
  return admin.checked
}

/** Requests of a user outside of the page. */
export class Requests {
  constructor({ address, masterKey }, account = { email, password }) {
    Object.assign(this, { address, masterKey, account })
  }

  async send(method, path, body, type = 'application/json', authorization = `Bearer ${this.token}`) {
    const headers = { ...(authorization && { Authorization: authorization }), ...(body !== undefined && { 'Content-Type': type }) }
    const response = await fetch(this.address + path, { method, headers, body })
    const text = await response.text()
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`)
    return text && JSON.parse(text)
  }

  async signIn() {
    this.token = (await this.send('POST', '/auth', JSON.stringify({ access_token: this.masterKey }), undefined, `Basic ${btoa(`${this.account.email}:${this.account.password}`)}`)).token
  }

  document = () => this.get('/admin/openapi.json')
  get = (path) => this.send('GET', path)
  post = (path, body, signedIn = true) => this.send('POST', path, JSON.stringify(body), undefined, signedIn ? undefined : '')
  put = (path, body) => this.send('PUT', path, JSON.stringify(body))
  patch = (path, body) => this.send('PATCH', path, JSON.stringify(body))
  upload = (path, type, body) => this.send('POST', path, body, type)
  endSessions = () => this.send('DELETE', '/auth/sessions').then(() => this.send('DELETE', '/auth'))
}

/** Creates an admin, and resolves to requests of the admin; user has the ID. */
export async function createAdmin(service, name) {
  const api = new Requests(service, { email: `${name}@example.com`, password: 'difference engine' })
  api.user = await api.post('/users', { ...api.account, role: 'admin', access_token: service.masterKey }, false)
  return api
}
