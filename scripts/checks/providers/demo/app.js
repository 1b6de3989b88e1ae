// An example client in a browser: it signs in with a provider by the authorization code flow with PKCE, then uses the
// session. It has no secrets: the service has the client secrets and exchanges the code for tokens.
//
//   1. The button stores a new state and code_verifier, and redirects to the provider.
//   2. The provider redirects to this page with code and state, or with error.
//   3. The page compares the state, and sends the code, the redirect_uri and the code_verifier to POST /auth/{provider}.
//   4. The response is {token, user, refreshToken, expiresAt}, as after a sign-in with a password.

const config = await (await fetch('config.json')).json()
const redirectURI = location.origin + location.pathname // this page
const $ = (id) => document.getElementById(id)

// ---- Session storage, which lasts until the tab is closed. Injected scripts can read it: prevent them with a
// Content-Security-Policy, and never insert untrusted strings as HTML.

const store = {
  get: (key) => JSON.parse(sessionStorage.getItem(key)),
  set: (key, value) => sessionStorage.setItem(key, JSON.stringify(value)),
  take(key) {
    const value = store.get(key)
    sessionStorage.removeItem(key)
    return value
  },
}
const session = () => store.get('session') // {token, user, refreshToken, expiresAt}, or null

// ---- The service

/** Calls the service; resolves to the JSON of the response, or null without a body; rejects with the error. */
async function send(method, path, { form, token } = {}) {
  let response
  try {
    response = await fetch(config.api + path, {
      method,
      headers: token ? { Authorization: `Bearer ${token}` } : {},
      body: form && new URLSearchParams(form),
    })
  } catch {
    throw new Error(`The service at ${config.api} is unreachable, or does not allow this page (CORS_ORIGINS).`)
  }
  const body = await response.json().catch(() => null)
  if (response.ok) return body
  const wait = response.headers.get('Retry-After')
  const problems = body?.errors?.map((e) => `${e.param}: ${e.message}`) ?? []
  const text = [body?.detail ?? body?.title ?? response.statusText, ...problems, wait ? `Try again in ${wait} s.` : ''].join(' ')
  throw Object.assign(new Error(`${response.status}: ${text}`), { status: response.status })
}

/** Calls the service as the user. If the token has expired, refreshes it and tries once more. */
async function call(method, path) {
  try {
    return await send(method, path, { token: session().token })
  } catch (error) {
    if (error.status !== 401) throw error
    await refresh()
    return send(method, path, { token: session().token })
  }
}

let refreshing = null // shared by concurrent calls

/** Refreshes the tokens. Deletes the session if it has ended. */
function refresh() {
  refreshing ??= send('POST', '/auth/refresh', { form: { refresh_token: session().refreshToken } })
    .then((fresh) => store.set('session', fresh), (error) => {
      if (error.status === 401) store.take('session')
      throw error
    })
    .finally(() => { refreshing = null })
  return refreshing
}

// ---- Signing in

const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)))

/** Redirects to a provider. If link is true, the identity is linked to the signed-in user. */
async function leave(provider, link) {
  const { authorize, clientId, scope } = config.providers[provider]
  const state = random() // so that nobody can bring us a code that we have not asked for
  const verifier = random() // so that nobody else can use the code that we get (RFC 7636)
  const challenge = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  store.set('pending', { provider, link, state, verifier })
  location.assign(`${authorize}?${new URLSearchParams({
    response_type: 'code', client_id: clientId, redirect_uri: redirectURI, scope, state,
    code_challenge: challenge, code_challenge_method: 'S256',
  })}`)
  return new Promise(() => {}) // nothing follows: the page is left
}

/** Completes the flow that leave started, after the redirect of the provider. */
async function comeBack() {
  const params = new URLSearchParams(location.search)
  if (!params.has('state') && !params.has('code') && !params.has('error')) return
  history.replaceState(null, '', location.pathname) // neither the history nor a reload holds the code
  const pending = store.take('pending')
  if (!pending || params.get('state') !== pending.state) {
    throw new Error('The state is not the one that this tab sent, so the code is rejected. Sign in again.')
  }
  const { name } = config.providers[pending.provider]
  if (params.has('error')) {
    throw new Error(`${name} says: ${params.get('error_description') ?? params.get('error')}`)
  }
  const form = { code: params.get('code'), redirect_uri: redirectURI, code_verifier: pending.verifier }
  if (pending.link && new Date(session().expiresAt) <= new Date()) await refresh() // a code can be sent only once
  const token = pending.link ? session().token : undefined
  const opened = await send('POST', `/auth/${pending.provider}`, { form, token })
  if (pending.link) await send('DELETE', '/auth', { token: opened.token }) // the session that we have goes on
  else store.set('session', opened)
  say(pending.link ? `${name} is linked.` : `Signed in with ${name}.`)
}

// ---- The page

/** Shows a message. */
function say(text, bad = false) {
  $('message').textContent = text
  $('message').className = bad ? 'bad' : ''
}

/** Creates an element. Strings are inserted as text, never as HTML. */
function element(name, text, ...children) {
  const made = document.createElement(name)
  made.textContent = text
  made.append(...children)
  return made
}

/** Creates a button that runs an action, renders the page again, and shows errors. */
function button(text, act) {
  const made = element('button', text)
  made.onclick = () => attempt(act)
  return made
}

async function attempt(act) {
  say('')
  try {
    await act()
  } catch (error) {
    say(error.message, true)
  }
  await show().catch((error) => say(error.message, true))
}

/** Renders the page. */
async function show() {
  const entries = Object.entries(config.providers)
  $('sign-in').replaceChildren(...entries.map(([id, { name }]) => button(`Sign in with ${name}`, () => leave(id, false))))
  $('link').replaceChildren(...entries.map(([id, { name }]) => button(`Link ${name}`, () => leave(id, true))))
  try {
    if (session()) await showAccount()
  } finally {
    $('signed-in').hidden = !session()
    $('signed-out').hidden = !!session()
  }
}

async function showAccount() {
  const [user, identities, sessions] = await Promise.all([
    call('GET', '/users/me'), call('GET', '/auth/identities'), call('GET', '/auth/sessions'),
  ])
  const facts = { ...user, 'token until': session().expiresAt }
  $('user').replaceChildren(...Object.entries(facts).flatMap(([name, value]) => [element('dt', name), element('dd', String(value))]))
  $('identities').replaceChildren(...identities.rows.map((identity) => element(
    'li', `${config.providers[identity.provider]?.name ?? identity.provider} `,
    button('Unlink', () => call('DELETE', `/auth/identities/${identity.provider}`)),
  )))
  $('sessions').replaceChildren(...sessions.rows.map(({ id, createdAt, ip, userAgent, current }) => element(
    'li', `${new Date(createdAt).toLocaleString()}, ${ip}, ${userAgent} `,
    current ? element('b', '(this one)') : button('End', () => call('DELETE', `/auth/sessions/${id}`)),
  )))
}

$('refresh').onclick = () => attempt(async () => {
  await refresh()
  say('The token is fresh.')
})
$('sign-out').onclick = () => attempt(async () => {
  try {
    await call('DELETE', '/auth')
  } finally {
    store.take('session')
  }
})
$('end-others').onclick = () => attempt(() => call('DELETE', '/auth/sessions'))

await attempt(comeBack)
