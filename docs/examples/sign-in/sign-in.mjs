// The code of the page. It shows one section at a time. Links lead to sections (#sign-up); the links in emails lead to this page
// with a token (#reset=…, #verify=…), and so do the providers (?code=…&state=…).
import { createClient } from '../client/index.js'
import { comeBack, leave, link } from '../social.mjs'

const api = createClient({ url: document.documentElement.dataset.api, storage: localStorage })
const { session } = api
const here = location.origin + location.pathname
const ofLink = () => ({ params: { path: { token } } })
const linkTo = (section) => `${here}#${section}={token}` // the service replaces {token}

let challenge // of the second factor
let emailed // the challenge of a code by email
let token // of the link in an email
let autofill // aborts the request for a passkey in the autofill of the email field

// ---- Sections

const $ = (selector, within = document) => within.querySelector(selector)
const section = (id) => document.getElementById(id)

/** Shows a section, and moves the focus to its first field or its heading. */
function show(id, { focus = true } = {}) {
  if (location.hash !== `#${id}`) history.replaceState(null, '', here)
  for (const each of document.querySelectorAll('main > section')) each.hidden = each.id !== id
  const shown = section(id)
  document.title = $('h1', shown).textContent
  for (const code of shown.querySelectorAll('[name=code], [type=password]')) code.value = ''
  if (focus) ($('[data-first]', shown) ?? $('h1', shown)).focus()
  autofill?.abort()
  if (id === 'sign-in') offerPasskeys()
}

/** Writes values into the elements with data-field. */
function fill(id, values) {
  for (const [name, value] of Object.entries(values)) $(`[data-field=${name}]`, section(id)).textContent = value
}

const say = (text) => { $('#status').textContent = text }

function clear() {
  for (const error of document.querySelectorAll('.error')) error.remove()
  for (const field of document.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid')
    field.removeAttribute('aria-describedby')
  }
  $('#status').textContent = $('#alert').textContent = ''
}

/** Shows an error: next to the fields that it names, and otherwise at the top. */
function complain(error) {
  const form = $('main > section:not([hidden]) form')
  const errors = Object.values(error.errors ?? {}).flat()
  const others = errors.filter(({ param, message }) => {
    const field = form && $(`[name="${param}"], [data-param="${param}"]`, form)
    if (field) mark(field, message)
    return !field
  })
  if (!errors.length) $('#alert').textContent = sentence(error)
  else if (others.length) $('#alert').textContent = others.map(({ param, message }) => `${param}: ${message}`).join(' ')
  $('[aria-invalid]')?.focus()
}

function mark(field, message) {
  const note = Object.assign(document.createElement('span'), { className: 'error', id: `${field.name}-error`, textContent: message })
  field.closest('label').after(note)
  field.setAttribute('aria-invalid', 'true')
  field.setAttribute('aria-describedby', note.id)
}

function sentence(error) {
  if (error.name === 'NotAllowedError') return 'No passkey was used. Try again, or choose another way.'
  if (error.name === 'InvalidStateError') return 'This device has a passkey of your account.'
  if (error.code === 'network') return 'The service is unreachable. Try again later.'
  if (error instanceof TypeError) console.error(error) // a mistake in this code
  return error.message
}

let running = null // the action that runs, as a promise

/** Runs an action of the user and shows its error. Ignores clicks while another one runs. */
function act(action) {
  running ??= run(action).finally(() => { running = null })
}

async function run(action) {
  $('main').setAttribute('aria-busy', 'true')
  clear()
  try {
    await action()
  } catch (error) {
    if (error.code === 'reauthentication_required' || error.status === 401 && !section('account').hidden) show('sign-in')
    complain(error.code === 'reauthentication_required' ? new Error('For this change, sign in again.') : error)
  } finally {
    $('main').removeAttribute('aria-busy')
  }
}

// ---- Sign-in

/** Runs a sign-in, asks for the second factor if the account has one, and shows the account. */
async function enter(signIn) {
  try {
    await signIn()
  } catch (problem) {
    if (problem.code !== 'second_factor_required') throw problem
    challenge = problem.challenge
    return show('second-factor')
  }
  await showAccount()
}

/** Offers passkeys in the autofill of the email field, until another section is shown. */
async function offerPasskeys() {
  const mine = autofill = new AbortController()
  try {
    if (!(await PublicKeyCredential.isConditionalMediationAvailable())) return
    await session.signIn({ passkey: true, mediation: 'conditional' }, { signal: mine.signal })
  } catch (error) {
    if (error.status === 401 && !mine.signal.aborted) return act(() => { show('sign-in'); throw error }) // the options expire after 5 minutes
    return // otherwise aborted, or not supported
  }
  await running
  act(showAccount)
}

async function usePasskey() {
  autofill?.abort() // a page can have one request
  try {
    await enter(() => session.signIn({ passkey: true }))
  } catch (error) {
    offerPasskeys()
    throw error
  }
}

const requestCode = async (email) => {
  emailed = await session.signIn({ email })
  show('email-code')
  say(`If ${email} can sign in, the code is on its way.`)
}

/** What the forms do, by their section. */
const forms = {
  'sign-in': ({ email, password }) => enter(() => session.signIn({ email, password })),
  'sign-up': async ({ email, password }) => {
    await enter(() => session.signUp({ email, password }))
    await requestVerification()
  },
  'second-factor': async ({ code }) => {
    const proof = /^[\d\s]+$/.test(code) ? { code } : { recovery_code: code }
    await enter(() => session.signIn({ challenge, ...proof }))
  },
  email: ({ email }) => requestCode(email),
  'email-code': ({ code }) => enter(() => session.signIn({ ...emailed, emailCode: code })),
  forgotten: async ({ email }) => {
    await api.request('POST', '/password-resets', { body: { email, link: linkTo('reset') } })
    show('sign-in')
    say(`If ${email} has an account, a link to set a new password is on its way.`)
  },
  reset: async ({ password }) => {
    const { email } = await api.request('PUT', '/password-resets/{token}', { ...ofLink(), body: { password } })
    await enter(() => session.signIn({ email, password }))
    say('The password has been set.')
  },
  verify: async () => {
    const { email } = await api.request('PUT', '/email-verifications/{token}', ofLink())
    await home()
    say(`The address of the account is ${email}.`)
  },
  'add-passkey': async ({ name }) => {
    await addPasskey(name || undefined)
    await showAccount()
    say('The passkey has been added.')
  },
}

async function addPasskey(name) {
  const { challenge, publicKey } = await api.request('POST', '/users/me/passkeys/options')
  const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) })
  await api.request('POST', '/users/me/passkeys', { body: { challenge, credential: credential.toJSON(), name } })
}

// ---- Providers

let providers = []
const loading = loadProviders().catch(complain)

async function loadProviders() {
  const { rows } = await api.request('GET', '/auth/providers')
  providers = rows.filter(({ id }) => id !== 'apple') // Apple posts its response, which a page cannot receive
  drawProviders($('#sign-in .providers'), providers, false)
}

function drawProviders(list, rows, linking) {
  list.replaceChildren(...rows.map((row) => {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: `${list.dataset.text} ${row.name}` })
    button.onclick = () => act(async () => location.assign(await leave({ ...row, redirectURI: here }, { linking })))
    return button
  }))
}

async function returnFromProvider() {
  const address = location.href
  history.replaceState(null, '', here) // the code stays out of the history
  show('sign-in')
  const { proof, linking } = comeBack(address)
  await (linking ? link(api, proof).then(showAccount) : enter(() => session.signIn(proof)))
}

// ---- The account

async function showAccount() {
  await loading
  const paths = ['/users/me', '/users/me/passkeys', '/auth/identities']
  const [user, passkeys, identities] = await Promise.all(paths.map((path) => api.request('GET', path)))
  fill('account', { email: user.email })
  $('[data-unverified]').hidden = user.emailVerified
  const item = (text) => Object.assign(document.createElement('li'), { textContent: text })
  const nameOf = (id) => providers.find((row) => row.id === id)?.name ?? id
  $('[data-passkeys]').replaceChildren(...passkeys.rows.map(({ name }) => item(name)))
  $('[data-identities]').replaceChildren(...identities.rows.map(({ provider }) => item(nameOf(provider))))
  const linked = new Set(identities.rows.map(({ provider }) => provider))
  drawProviders($('#account .providers'), providers.filter(({ id }) => !linked.has(id)), true)
  $('[data-linking]').hidden = !providers.length && !linked.size
  $('#add-passkey').reset()
  show('account')
}

async function requestVerification() {
  await api.request('POST', '/users/me/email-verification', { body: { link: linkTo('verify') } })
  say('A link that verifies the address is on its way.')
}

const actions = {
  passkey: usePasskey,
  verification: requestVerification,
  'sign-out': async () => {
    await session.signOut()
    show('sign-in')
    say('You have signed out.')
  },
}

// ---- Links

async function openReset(secret) {
  token = secret
  try {
    fill('reset', { name: (await api.request('GET', '/password-resets/{token}', ofLink())).user.name })
    show('reset')
  } catch (error) {
    show('forgotten')
    throw error
  }
}

const questions = { verify: 'Is this your address:', change: 'Change the address of your account to', undo: 'Change the address of your account back to' }

async function openVerification(secret) {
  token = secret
  try {
    const { purpose, email } = await api.request('GET', '/email-verifications/{token}', ofLink())
    fill('verify', { purpose: questions[purpose], email })
    show('verify')
  } catch (error) {
    await home()
    throw error
  }
}

/** Shows the account, or the sign-in without a session. */
async function home(options) {
  if (!session.user) return show('sign-in', options)
  try {
    await showAccount()
  } catch (error) {
    show('sign-in')
    if (error.status !== 401) throw error // 401: the session has ended
  }
}

/** Shows what the fragment of the page's address asks for. */
async function route(hash, options) {
  const [id, secret] = hash.slice(1).split('=')
  if (secret) history.replaceState(null, '', here) // the token stays out of the history
  if (secret && id === 'reset') return openReset(secret)
  if (secret && id === 'verify') return openVerification(secret)
  if (['sign-in', 'sign-up', 'email', 'forgotten'].includes(id)) return show(id)
  return home(options)
}

for (const form of document.forms) {
  const id = form.id || form.parentElement.id
  form.onsubmit = (event) => {
    event.preventDefault()
    act(async () => {
      const errors = [...form.elements].filter((field) => field.required && !field.value)
        .map(({ name }) => ({ param: name, message: 'Please fill this in.' }))
      if (errors.length) throw Object.assign(new Error(), { errors: [errors] })
      await forms[id](Object.fromEntries(new FormData(form)))
    })
  }
}
for (const button of document.querySelectorAll('[data-action]')) button.onclick = () => act(actions[button.dataset.action])
for (const field of document.querySelectorAll('[name=email]')) { // all forms have the same address
  field.oninput = () => { for (const other of document.querySelectorAll('[name=email]')) other.value = field.value }
}
$('[data-action=passkey]').hidden = !globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON
addEventListener('hashchange', async ({ newURL }) => {
  await running
  act(() => route(new URL(newURL).hash))
})

act(() => (new URLSearchParams(location.search).has('state') ? returnFromProvider() : route(location.hash, { focus: false })))
