// The browser test of passkeys: builds the service, and registers and uses passkeys with @simplewebauthn/browser and the generated client in Chromium, with its
// virtual authenticators. The pages are on other origins than the service: localhost, and a domain below that of the passkeys.
//
//   npm --prefix scripts/checks/browser ci && npm --prefix scripts/checks/browser run passkeys

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withBrowser } from './chromium.mjs'
import { root, withBuilt, withService } from './service.mjs'

const library = readFileSync(fileURLToPath(import.meta.resolve('@simplewebauthn/browser')).replace(/(esm|script)\/.*/, 'dist/bundle/index.umd.min.js'))
const client = readFileSync(join(root, 'clients', 'typescript', 'index.js'))
const [, guide] = readFileSync(join(root, 'docs', 'passkeys.md'), 'utf8').match(/```js\n([^]*?)```/)
const eligibilityLog = 'the backup eligibility of a passkey has changed'

/** Serves an empty page with the library and the code of the guide, calls job with its port, and stops. certificate makes it https. */
async function withPage(certificate, job) {
  const page = '<!doctype html><title>Passkeys</title><script src="/library.js"></script>'
  const serve = (request, response) => {
    const { pathname, search } = new URL(request.url, 'http://localhost')
    const scripts = { '/library.js': library, '/client.js': client, '/guide.js': guide.replace('http://localhost:9000', decodeURIComponent(search.slice(1))) }
    response.writeHead(200, { 'Content-Type': scripts[pathname] ? 'text/javascript' : 'text/html' }).end(scripts[pathname] ?? page)
  }
  const server = certificate ? https.createServer(certificate, serve) : http.createServer(serve)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await job(server.address().port)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** Creates a self-signed certificate in the directory. */
function createCertificate(dir) {
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
    '-subj', '/CN=app.example.com', '-addext', 'subjectAltName=DNS:app.example.com', '-keyout', key, '-out', cert])
  assert.equal(made.status, 0, String(made.stderr))
  return { key: readFileSync(key), cert: readFileSync(cert) }
}

/** Runs in the page: registers a passkey, or signs in. override changes the options, and edit names a change of the credential. */
async function ceremony({ api, token, override, edit }) {
  const post = async (path, body) => {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) }
    const response = await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: await response.json() }
  }
  const path = token ? '/users/me/passkeys' : '/auth/passkey'
  const options = await post(`${path}/options`, {})
  if (options.status !== 200) return options
  const { challenge, publicKey } = options.body
  const start = token ? SimpleWebAuthnBrowser.startRegistration : SimpleWebAuthnBrowser.startAuthentication
  let credential
  try {
    credential = await start({ optionsJSON: { ...publicKey, ...override } })
  } catch (error) {
    return { status: error.name }
  }
  if (edit === 'no user handle') delete credential.response.userHandle
  const result = await post(path, { challenge, credential })
  return edit === 'twice' ? post(path, { challenge, credential }) : result
}

/** Opens a page with a virtual authenticator, and calls job with its functions. */
async function withAuthenticator(browser, url, api, options, job) {
  const page = await browser.newPage()
  try {
    const cdp = await browser.newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal',
      hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true, ...options } })
    const send = (command, parameters) => cdp.send(`WebAuthn.${command}`, { authenticatorId, ...parameters })
    const passkey = async () => (await send('getCredentials')).credentials[0]
    await page.goto(url)
    await job({
      send,
      passkey,
      run: (code, argument) => page.evaluate(code, argument),
      register: (token, more) => page.evaluate(ceremony, { api, token, ...more }),
      signIn: (more) => page.evaluate(ceremony, { api, ...more }),
    })
  } finally {
    await page.close()
  }
}

/** Signs a user up and in; resolves to the user's token. */
async function signUp(api, masterKey) {
  const email = `${crypto.randomUUID()}@example.com`
  const form = new URLSearchParams({ access_token: masterKey, email, password: 'analytical engine' })
  assert.equal((await fetch(`${api}/users`, { method: 'POST', body: form })).status, 201)
  const headers = { Authorization: `Basic ${btoa(`${email}:analytical engine`)}` }
  const response = await fetch(`${api}/auth`, { method: 'POST', headers, body: new URLSearchParams({ access_token: masterKey }) })
  assert.equal(response.status, 201)
  return (await response.json()).token
}

const roaming = { transport: 'usb' }
const discoverableOptional = { authenticatorSelection: { residentKey: 'discouraged', userVerification: 'required' } }

/**
 * The cases: an authenticator, and what registration and sign-in must respond with: a status, or the name of the browser's error.
 * between changes the authenticator.
 */
const cases = [
  { name: 'platform', registered: 201, signedIn: 201 },
  { name: 'roaming', authenticator: roaming, registered: 201, signedIn: 201 },
  { name: 'without user verification', authenticator: { ...roaming, hasUserVerification: false }, registered: 'NotAllowedError' },
  { name: 'user verification fails', authenticator: { isUserVerified: false }, registered: 'NotAllowedError' },
  { name: 'registration without user verification, in a page that allows it', authenticator: { ...roaming, hasUserVerification: false },
    register: { override: { authenticatorSelection: { residentKey: 'discouraged', userVerification: 'discouraged' } } }, registered: 400 },
  { name: 'without discoverable credentials', authenticator: { ...roaming, hasResidentKey: false }, registered: 'NotAllowedError' },
  { name: 'not discoverable, in a page that allows it', authenticator: { ...roaming, hasResidentKey: false },
    register: { override: discoverableOptional }, registered: 400 },
  { name: 'user verification fails at sign-in', registered: 201,
    between: ({ send }) => send('setUserVerified', { isUserVerified: false }), signedIn: 'NotAllowedError' },
  { name: 'backed up', authenticator: { defaultBackupEligibility: true, defaultBackupState: true }, registered: 201, signedIn: 201 },
  { name: 'becomes eligible and is backed up', registered: 201, signedIn: 201, logged: true,
    between: async ({ send, passkey }) => send('setCredentialProperties',
      { credentialId: (await passkey()).credentialId, backupEligibility: true, backupState: true }) },
  { name: 'becomes ineligible', authenticator: { defaultBackupEligibility: true }, registered: 201, signedIn: 201, logged: true,
    between: async ({ send, passkey }) => send('setCredentialProperties',
      { credentialId: (await passkey()).credentialId, backupEligibility: false, backupState: false }) },
  { name: 'a copy, whose counter goes back', registered: 201, signedIn: 401,
    between: async ({ send, signIn, passkey }) => {
      assert.equal((await signIn()).status, 201)
      const credential = await passkey()
      await send('clearCredentials')
      await send('addCredential', { credential: { ...credential, signCount: 0 } })
    } },
  { name: 'no user handle', registered: 201, signIn: { edit: 'no user handle' }, signedIn: 401 },
  { name: 'a challenge used twice', registered: 201, signIn: { edit: 'twice' }, signedIn: 401 },
]

/** Runs the cases in a page. */
async function runCases(browser, url, { address, masterKey, printed }) {
  for (const test of cases) {
    await withAuthenticator(browser, url, address, test.authenticator, async (device) => {
      const registered = await device.register(await signUp(address, masterKey), test.register)
      assert.equal(registered.status, test.registered, `${test.name}: registration: ${JSON.stringify(registered.body)}`)
      let outcome = `registration ${registered.status}`
      if (test.signedIn) {
        await test.between?.(device)
        const before = printed().split(eligibilityLog).length
        const signedIn = await device.signIn(test.signIn)
        assert.equal(signedIn.status, test.signedIn, `${test.name}: sign-in: ${JSON.stringify(signedIn.body)}`)
        assert.equal(printed().split(eligibilityLog).length > before, test.logged ?? false, `${test.name}: the log`)
        outcome += `, sign-in ${signedIn.status}`
      }
      console.log(`${test.name}: ${outcome}`)
    })
  }
}

/** Runs the code of the guide, which uses the browser's own functions. */
async function followGuide(browser, url, { address, masterKey }) {
  await withAuthenticator(browser, url, address, {}, async ({ run }) => {
    const token = await signUp(address, masterKey)
    const result = await run(async ({ address, token }) => {
      const { addPasskey, signIn } = await import(`/guide.js?${encodeURIComponent(address)}`)
      const added = await addPasskey(token, 'My phone')
      return { name: added.name, token: (await signIn()).token }
    }, { address, token })
    assert.equal(result.name, 'My phone')
    assert.ok(result.token)
  })
}

/** Signs in with the generated client in one tab; another one has the session, shares the refresh, and notices the end. */
async function useClient(browser, url, { address, masterKey }) {
  await withAuthenticator(browser, url, address, {}, async ({ register, run }) => {
    assert.equal((await register(await signUp(address, masterKey))).status, 201)
    const user = await run(async (url) => {
      const { createClient } = await import('/client.js')
      window.api = createClient({ url, storage: localStorage })
      return window.api.session.signIn({ passkey: true })
    }, address)
    const tab = await browser.newPage()
    await tab.goto(url)
    const shared = await tab.evaluate(async (url) => {
      const { createClient } = await import('/client.js')
      window.api = createClient({ url, storage: localStorage })
      window.changed = new Promise((resolve) => window.api.session.onChange(resolve))
      const [name] = Object.keys(localStorage)
      localStorage[name] = JSON.stringify({ ...JSON.parse(localStorage[name]), refreshAt: 1 }) // has expired
      return window.api.session.user
    }, address)
    assert.deepEqual(shared, user)
    let refreshes = 0
    browser.on('request', (request) => { refreshes += request.method() === 'POST' && request.url().endsWith('/auth/refresh') })
    const me = async () => (await window.api.request('GET', '/users/me')).id
    assert.deepEqual(await Promise.all([run(me), tab.evaluate(me)]), [user.id, user.id])
    assert.equal(refreshes, 1)
    await run(() => window.api.session.signOut())
    assert.equal(await tab.evaluate(() => window.changed), null)
    await tab.close()
  })
}

/** Registers a passkey on one page, and signs in on another. */
async function crossPages(browser, { address, masterKey }, from, to, expected) {
  await withAuthenticator(browser, from, address, {}, async (device) => {
    assert.equal((await device.register(await signUp(address, masterKey))).status, 201)
    const credential = await device.passkey()
    await withAuthenticator(browser, to, address, {}, async (other) => {
      await other.send('addCredential', { credential })
      assert.equal((await other.signIn()).status, expected, `from ${from} to ${to}`)
    })
  })
}

await withBuilt(async (binary, dir) => {
  const args = ['--host-resolver-rules=MAP *.example.com 127.0.0.1', '--ignore-certificate-errors']
  await withBrowser(dir, (browser) => withPage(null, (port) => withPage(null, (otherPort) => withPage(createCertificate(dir), async (securePort) => {
    const [page, other] = [`http://localhost:${port}/`, `http://localhost:${otherPort}/`]
    await withService(binary, { APP_ENV: 'development', PUBLIC_SIGNUP: 'true' }, async (service) => {
      await runCases(browser, page, service)
      await crossPages(browser, service, page, other, 201)
      await followGuide(browser, page, service)
      console.log('the code of the guide: registration 201, sign-in 201')
      await useClient(browser, page, service)
      console.log('the generated client: sign-in, one refresh of two tabs, sign-out of both')
    })
    const app = `https://app.example.com:${securePort}`
    const settings = { APP_ENV: 'development', PUBLIC_SIGNUP: 'true', PASSKEY_RP_ID: 'example.com', PASSKEY_ORIGINS: app }
    await withService(binary, settings, (service) => crossPages(browser, service, app, app, 201))
    console.log('a domain below that of the passkeys: registration 201, sign-in 201')
    const one = { ...settings, PASSKEY_ORIGINS: `${app},https://www.example.com` }
    await withService(binary, one, (service) => crossPages(browser, service, app, `https://www.example.com:${securePort}`, 401))
    console.log('a page on another origin: sign-in 401')
  }))), args)
})
