// The ways to sign in to the admin page: with a code by email, a passkey and a provider.

import { createAdmin, withAdmin } from './admin-page.mjs'

const email = 'grace@example.com' // the fake providers know the address

/** Runs in the page: creates a passkey. */
async function createPasskey(publicKey) {
  return (await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) })).toJSON()
}

/** Signs in with a provider in its window: as Grace Hopper, with a new account that has the address, or denies access. */
async function continueWith(page, name, address) {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: `Continue with ${name}` }).click()])
  if (address === email) await popup.getByLabel('Grace Hopper').check()
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
  await continueWith(page, 'Google', 'nobody@example.com')
  await problem('not an administrator')
  await continueWith(page, 'Google', email)
  await signedIn()

  await admin.open('/articles/new')
  await admin.fill({ Title: 'Chestnut', Content: 'A tree.' })
  await admin.send('DELETE', '/auth')
  await admin.click('Create')
  await page.getByText('Your session has ended').waitFor()
  await continueWith(page, 'GitHub', 'nobody-else@example.com')
  await problem(`Sign in as ${email}.`)
  await admin.check('sign in again as another')
  await continueWith(page, 'Google', email)
  await page.getByRole('heading', { name: 'Chestnut' }).waitFor()
  return admin.send('GET', '/admin/openapi.json')
}

/** Signs in, in each way. Resolves to the number of checked screens. */
export function signIns(browser, service, pictures) {
  const address = service.address.replace('127.0.0.1', 'localhost') // passkeys need a domain
  return withAdmin(browser, address, pictures, (admin) => visit(admin, browser, service))
}
