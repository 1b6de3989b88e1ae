// The ways to sign in to the admin page: with a code by email, a passkey and a provider.

import assert from 'node:assert/strict'
import { createAdmin, stateOf, withAdmin } from './admin-page.mjs'
import { watch } from './page.mjs'

const email = 'grace@example.com' // the fake providers know the address
const other = 'nobody@example.com'

/** Runs in the page: creates a passkey. */
async function createPasskey(publicKey) {
  return (await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) })).toJSON()
}

/** Signs in with a provider in its window: with the account that has the address, which is new if there is none, or denies access. */
async function continueWith(page, name, address) {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: `Continue with ${name}` }).click()])
  await popup.getByRole('button', { name: 'Refuse' }).waitFor()
  const account = popup.getByRole('radio', { name: address })
  if (address && await account.count()) await account.check()
  else if (address) await popup.locator('[name=email]').fill(address)
  const closed = popup.waitForEvent('close')
  await popup.getByRole('button', { name: address ? 'Continue' : 'Refuse' }).click()
  await closed
}

/** Sends a code to the address, and resolves to it. */
async function requestCode(admin, { masterKey, printed, said }) {
  const before = printed().length
  await admin.fill({ Email: email, 'Master key': masterKey })
  await admin.click('Email me a code')
  await admin.page.getByText('the code is on its way').waitFor()
  const [, code] = await said(new RegExp(`^To: ${email}$[^]*?^Code: (\\d{6})$`, 'm'), before)
  return code
}

/** Runs in the page: adds the users whose sessions other tabs send to window.received. */
function recordSessions() {
  window.received = []
  const name = Object.keys(sessionStorage).find((key) => key.startsWith('tabs of')).slice('tabs of '.length)
  window.recorder = new BroadcastChannel(name) // later than that of the page, which therefore has handled each message before
  window.recorder.onmessage = ({ data }) => { if (data.text) window.received.push(JSON.parse(data.text).user.email) }
}

/** While another admin is signed in in another tab, that admin tries to sign in in the dialog of this one, which has a form. */
async function signInAgainAsOther(admin, browser) {
  const { page, address } = admin
  const second = await browser.newPage()
  const faults = watch(second, [address])
  await second.goto(`${address}/admin/`)
  await continueWith(second, 'Google', other)
  await second.getByRole('heading', { name: 'Overview' }).waitFor()
  const { token } = await second.evaluate(stateOf, false)
  await page.bringToFront()
  await continueWith(page, 'Google', other)
  await page.getByRole('alert').filter({ hasText: `Sign in as ${email}.` }).waitFor()
  assert.equal((await second.evaluate(stateOf, false))?.token, token, 'a refused sign-in replaces the session of another tab')
  await page.evaluate(recordSessions)
  await second.evaluate(stateOf, true)
  await second.reload() // refreshes the token
  await second.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.waitForFunction((other) => window.received.includes(other), other)
  assert.equal(await page.evaluate(stateOf, false), undefined, 'a form has the session of another admin')
  await second.close()
  await page.bringToFront()
  assert.deepEqual(faults, [])
}

async function visit(admin, browser, service) {
  const { page, address } = admin
  const signOut = async () => {
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Email').waitFor()
  }
  const signedIn = () => page.getByRole('heading', { name: 'Overview' }).waitFor()
  const problem = (text) => page.getByRole('alert').filter({ hasText: text }).waitFor()
  await createAdmin(service, 'grace')
  const cdp = await browser.newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } })

  await page.goto(`${address}/admin/`)
  await page.getByRole('button', { name: 'Continue with Google' }).waitFor()
  await admin.check('ways to sign in')
  const code = await requestCode(admin, service)
  await admin.check('code by email')
  await admin.fill({ Code: code === '000000' ? '000001' : '000000' })
  await admin.click('Continue')
  await problem('Code:')
  await admin.fill({ Code: code })
  await admin.click('Continue')
  await signedIn()

  const { challenge, publicKey } = await admin.send('POST', '/users/me/passkeys/options', {})
  await admin.send('POST', '/users/me/passkeys', { challenge, credential: await page.evaluate(createPasskey, publicKey), name: 'Laptop' })
  await signOut()
  await admin.fill({ 'Master key': service.masterKey })
  await admin.click('Sign in with a passkey')
  await signedIn()

  await signOut()
  await continueWith(page, 'Google')
  await problem('denied')
  await continueWith(page, 'Google', other)
  await problem('not an administrator')
  await continueWith(page, 'Google', email)
  await signedIn()

  const [{ id }] = (await admin.send('GET', '/users?q=nobody')).rows
  await admin.send('PATCH', `/users/${id}`, { role: 'admin' })
  await admin.open('/articles/new')
  await admin.fill({ Title: 'Chestnut', Content: 'A tree.' })
  await admin.send('DELETE', '/auth')
  await admin.click('Create')
  await page.getByText('Your session has ended').waitFor()
  await continueWith(page, 'GitHub', 'nobody-else@example.com')
  await problem(`Sign in as ${email}.`)
  await admin.check('sign in again as another')
  await signInAgainAsOther(admin, browser)
  await continueWith(page, 'Google', email)
  await page.getByRole('heading', { name: 'Chestnut' }).waitFor()
  return admin.send('GET', '/admin/openapi.json')
}

/** Signs in, in each way. Resolves to the number of checked screens. */
export function signIns(browser, service, pictures) {
  const address = service.address.replace('127.0.0.1', 'localhost') // passkeys need a domain
  return withAdmin(browser, address, pictures, (admin) => visit(admin, browser, service))
}
