// The browser test of the sign-in page: builds the service and the fake providers, and runs every flow of docs/examples/sign-in at
// 390 and at 1280 px. The page must not be wider than the window, and must log no error. Screenshots are saved in tmp/sign-in.
//
//   npm --prefix scripts/checks/browser ci && npm --prefix scripts/checks/browser run sign-in

import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { withBrowser } from './chromium.mjs'
import { watch, withPage } from './page.mjs'
import { withProviders } from './providers.mjs'
import { root, withBuilt, withService } from './service.mjs'
import { totp } from './totp.mjs'

const pictures = join(root, 'tmp', 'sign-in')
const password = 'analytical engine'

/** Runs in the page: returns the faults of its layout and of its labels. */
function inspect() {
  const faults = []
  const width = document.documentElement.clientWidth
  if (document.documentElement.scrollWidth > width) faults.push(`the page is ${document.documentElement.scrollWidth} px wide`)
  for (const element of document.querySelectorAll('body *')) {
    const box = element.getBoundingClientRect()
    if (box.right > width + 0.5 || box.left < 0) faults.push(`${element.tagName} reaches from ${box.left} to ${box.right} of ${width} px`)
  }
  for (const field of document.querySelectorAll('input')) if (!field.labels.length) faults.push(`${field.name} has no label`)
  if (/(reset|verify|code|state)=/.test(location.href)) faults.push(`a secret in the address bar: ${location.href}`)
  return faults
}

/** A visitor of the page: what a user sees and does. */
class Visitor {
  constructor(page, url, width, service) {
    Object.assign(this, { page, url, width, service, main: page.locator('main > section:not([hidden])') })
  }

  /** Waits for a section, and checks its layout. */
  async sees(heading) {
    await this.page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
    assert.deepEqual(await this.page.evaluate(inspect), [], `${heading} at ${this.width} px`)
  }

  async reads(role, text) {
    await this.page.getByRole(role).filter({ hasText: text }).waitFor()
  }

  click(name) {
    return this.main.getByRole('button', { name, exact: true }).click()
  }

  /** Follows a link to another section, and waits for that section: the page shows it when its requests have ended. */
  async follow(name) {
    const link = this.main.getByRole('link', { name, exact: true })
    const target = await link.getAttribute('href')
    await link.click()
    if (target !== '#') await this.page.locator(`main > section${target}:not([hidden])`).waitFor()
  }

  /** Fills the fields, and submits the form with the Enter key. */
  async enter(values) {
    for (const [name, value] of Object.entries(values)) await this.main.locator(`[name=${name}]`).fill(value)
    await this.main.locator(`[name=${Object.keys(values).at(-1)}]`).press('Enter')
  }

  /** Waits for an error next to a field, which must have the focus. */
  async corrects(name, message) {
    const field = this.main.locator(`[name=${name}][aria-invalid]`)
    await field.waitFor()
    const note = this.main.locator(`#${await field.getAttribute('aria-describedby')}`)
    assert.match(await note.innerText(), message)
    assert.ok(await field.evaluate((element) => element === document.activeElement), `the focus is not in ${name}`)
    assert.deepEqual(await this.page.evaluate(inspect), [], `${name} with an error at ${this.width} px`)
  }

  /** Does something that sends an email; resolves to the first group of the pattern in it. */
  async receives(email, pattern, job) {
    const before = this.service.printed().length
    await job()
    const [, found] = await this.service.said(new RegExp(`^To: ${email.replaceAll('.', '\\.')}$[^]*?${pattern.source}`, 'm'), before)
    return found
  }

  async signOut() {
    await this.sees('Your account')
    await this.click('Sign out')
    await this.sees('Sign in')
  }

  async picture(name) {
    if (name !== 'failed') await this.page.locator('main:not([aria-busy])').waitFor()
    await this.page.screenshot({ path: join(pictures, `${name}-${this.width}.png`), animations: 'disabled' })
  }
}

const code = /^Code: (\d{6})$/
const link = (section) => new RegExp(`(http\\S+#${section}=[\\w-]+)`)
const other = (digits) => (digits === '000000' ? '000001' : '000000')

async function signUp(visitor, email) {
  await visitor.page.goto(visitor.url)
  await visitor.sees('Sign in')
  await visitor.picture('sign-in')
  await visitor.follow('Sign up')
  await visitor.sees('Sign up')
  await visitor.enter({ email, password: '' })
  await visitor.corrects('password', /fill this in/)
  await visitor.enter({ email: 'ada', password: 'short' })
  await visitor.corrects('email', /email address/)
  await visitor.picture('errors')
  const verification = await visitor.receives(email, link('verify'), () => visitor.enter({ email, password }))
  await visitor.sees('Your account')
  await visitor.main.getByText('The address is not verified.').waitFor()
  await visitor.page.goto(verification)
  await visitor.sees('Confirm your email address')
  await visitor.main.getByText(email).waitFor()
  await visitor.click('Confirm')
  await visitor.reads('status', email)
  await visitor.main.getByText('The address is not verified.').waitFor({ state: 'hidden' })
  await visitor.page.goto(verification)
  await visitor.reads('alert', 'This link does not work')
  await visitor.page.reload()
  await visitor.signOut()
}

async function passwords(visitor, email) {
  await visitor.follow('Sign up')
  await visitor.enter({ email, password })
  await visitor.corrects('email', /./)
  await visitor.follow('Sign in')
  await visitor.enter({ email, password: 'wrong' })
  await visitor.reads('alert', 'Email or password is wrong.')
  await visitor.enter({ email, password })
  await visitor.signOut()
}

/** Adds a passkey, and signs in with it: with the button, and in the autofill of the email field, which the authenticator accepts at once. */
async function passkeys(visitor, email) {
  const { page } = visitor
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true }
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options })
  const withoutAutofill = () => page.evaluate(() => { PublicKeyCredential.isConditionalMediationAvailable = async () => false })
  await visitor.enter({ email, password })
  await visitor.sees('Your account')
  await visitor.enter({ name: 'x'.repeat(101) })
  await visitor.corrects('name', /100/)
  await visitor.enter({ name: 'My laptop' })
  await visitor.reads('status', 'The passkey has been added.')
  await visitor.main.getByRole('listitem').filter({ hasText: 'My laptop' }).waitFor()
  await visitor.picture('account')
  await visitor.click('Add a passkey')
  await visitor.reads('alert', 'This device has a passkey of your account.')

  await withoutAutofill()
  await visitor.signOut()
  await visitor.click('Sign in with a passkey')
  await visitor.sees('Your account')

  await page.reload() // with autofill
  await visitor.sees('Your account')
  const signedIn = page.waitForResponse((response) => response.url().endsWith('/auth/passkey') && response.request().method() === 'POST')
  await visitor.click('Sign out')
  assert.equal((await signedIn).status(), 201)
  await visitor.sees('Your account')

  await withoutAutofill()
  await visitor.signOut()
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await visitor.click('Sign in with a passkey')
  await visitor.reads('alert', 'No passkey was used.')
  await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
  await cdp.detach()
}

/** Has a change rejected because the sign-in is too old. */
async function reauthentication(visitor, email) {
  await visitor.enter({ email, password })
  await visitor.sees('Your account')
  const json = { status: 403, code: 'reauthentication_required', detail: 'Sign in again.' }
  const headers = { 'Access-Control-Allow-Origin': '*' }
  await visitor.page.route('**/users/me/passkeys/options', (route) => route.fulfill({ status: 403, headers, json }), { times: 1 })
  await visitor.click('Add a passkey')
  await visitor.sees('Sign in')
  await visitor.reads('alert', 'For this change, sign in again.')
  await visitor.enter({ email, password })
  await visitor.signOut()
}

async function emailCodes(visitor, email) {
  await visitor.follow('Sign in with a code by email')
  await visitor.page.route('**/auth/email-code', async (route) => {
    await visitor.main.getByRole('link', { name: 'Cancel', exact: true }).click() // before the response
    await route.continue()
  }, { times: 1 })
  await visitor.receives(email, code, () => visitor.enter({ email }))
  await visitor.sees('Sign in')
  await visitor.follow('Sign in with a code by email')
  await visitor.sees('Sign in with a code')
  const digits = await visitor.receives(email, code, () => visitor.enter({ email }))
  await visitor.sees('Check your email')
  await visitor.enter({ code: other(digits) })
  await visitor.corrects('code', /./)
  await visitor.enter({ code: digits })
  await visitor.signOut()
}

async function forgottenPassword(visitor, email) {
  await visitor.follow('Forgot your password?')
  await visitor.sees('Forgotten password')
  const address = await visitor.receives(email, link('reset'), () => visitor.enter({ email }))
  await visitor.sees('Sign in')
  await visitor.page.goto(address)
  await visitor.sees('New password')
  await visitor.enter({ password: 'password1' })
  await visitor.corrects('password', /common/)
  await visitor.enter({ password })
  await visitor.reads('status', 'The password has been set.')
  await visitor.signOut()
  await visitor.page.goto(address)
  await visitor.sees('Forgotten password')
  await visitor.reads('alert', /./)
  await visitor.follow('Cancel')
  await visitor.sees('Sign in')
}

/** Turns two-factor sign-in on; resolves to the secret and the recovery codes. */
async function enrol(api, email) {
  const call = async (method, path, headers, json) => {
    const response = await fetch(api + path, { method, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(json ?? {}) })
    assert.ok(response.ok, `${method} ${path}: ${response.status}`)
    return response.json()
  }
  const { token } = await call('POST', '/auth', { Authorization: `Basic ${btoa(`${email}:${password}`)}` })
  const headers = { Authorization: `Bearer ${token}` }
  const { secret } = await call('POST', '/users/me/two-factor', headers)
  return { secret, ...await call('PUT', '/users/me/two-factor', headers, { code: totp(secret) }) }
}

async function secondFactors(visitor, email) {
  const { secret, recoveryCodes } = await enrol(visitor.service.address, email)
  await visitor.enter({ email, password })
  await visitor.sees('Two-factor sign-in')
  await visitor.enter({ code: recoveryCodes[0].replaceAll(/\w/g, 'a') })
  await visitor.corrects('code', /./)
  await visitor.picture('second-factor')
  await visitor.enter({ code: totp(secret, 1) }) // a code is accepted once
  await visitor.signOut()

  await visitor.follow('Sign in with a code by email')
  const digits = await visitor.receives(email, code, () => visitor.enter({ email }))
  await visitor.enter({ code: digits })
  await visitor.sees('Two-factor sign-in')
  await visitor.enter({ code: recoveryCodes[1] })
  await visitor.signOut()
}

/** Chooses a new account at a fake provider, or denies access. */
async function consent({ page }, email) {
  await page.getByRole('heading', { name: 'a fake' }).waitFor()
  if (email) await page.locator('[name=email]').fill(email)
  await page.getByRole('button', { name: email ? 'Continue' : 'Refuse' }).click()
}

async function providers(visitor, email) {
  await visitor.click('Continue with Google')
  await consent(visitor)
  await visitor.reads('alert', 'denied')
  await visitor.sees('Sign in')
  await visitor.page.goto(`${visitor.url}?code=stolen&state=other`)
  await visitor.reads('alert', 'This tab did not start this sign-in.')
  await visitor.click('Continue with Google')
  await consent(visitor, email)
  await visitor.sees('Your account')
  await visitor.main.getByText(email).waitFor()
  await visitor.click('Link GitHub')
  await consent(visitor, `github-${email}`)
  await visitor.sees('Your account')
  await visitor.main.getByRole('listitem').filter({ hasText: 'GitHub' }).waitFor()
  assert.equal(await visitor.main.getByRole('button', { name: 'Link Google' }).count(), 0, 'a linked provider has a button')
  await visitor.signOut()
}

/** Runs all flows at a width. */
async function visit(browser, url, width, service, addresses) {
  const page = await browser.newPage()
  await page.setViewportSize({ width, height: 844 })
  const faults = watch(page, [new URL(url).origin, service.address, ...addresses])
  const visitor = new Visitor(page, url, width, service)
  const email = `ada-${width}@example.com`
  try {
    await signUp(visitor, email)
    await passwords(visitor, email)
    await passkeys(visitor, email)
    await reauthentication(visitor, email)
    await emailCodes(visitor, email)
    await forgottenPassword(visitor, email)
    await secondFactors(visitor, email)
    await providers(visitor, `grace-${width}@example.com`)
  } catch (error) {
    await visitor.picture('failed')
    throw error
  } finally {
    for (const fault of faults) console.error(fault)
    await page.close()
  }
  assert.deepEqual(faults, [], 'the page did what it should not')
  console.log(`${width} px: all flows pass`)
}

rmSync(pictures, { recursive: true, force: true })
mkdirSync(pictures, { recursive: true })
await withBuilt((binary, dir) => withBrowser(dir, (browser) => withProviders(dir, (settings) =>
  withService(binary, { APP_ENV: 'development', PUBLIC_SIGNUP: 'true', ...settings }, (service) =>
    withPage('sign-in', dir, service.address, async (url) => {
      for (const width of [390, 1280]) await visit(browser, url, width, service, [settings.GOOGLE_ISSUER, settings.GITHUB_URL])
    })))))
console.log(`what the page showed: ${pictures}`)
