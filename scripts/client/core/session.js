
const REFRESH_BEFORE = 30_000 // ms before the token expires, less for a short lifetime
const VISIBLE_AFTER = 100 // ms until other tabs see a change of localStorage, which has no order with Web Locks

/** Returns a storage that lasts as long as the client. */
function memory() {
  const items = new Map()
  return { getItem: (key) => items.get(key), setItem: (key, value) => items.set(key, value), removeItem: (key) => items.delete(key) }
}

/** Returns the state of a session: the tokens and their user. */
function newState({ token, refreshToken, expiresAt, user }) {
  const lifetime = Date.parse(expiresAt) - Date.now()
  // On a machine whose clock is ahead, only the responses with 401 show that a token has expired.
  const refreshAt = lifetime > 0 ? Date.now() + lifetime - Math.min(lifetime / 5, REFRESH_BEFORE) : null
  return { token, refreshToken, refreshAt, user }
}

/** Runs the job in one tab at a time. Without Web Locks, as in pages without TLS, each tab runs its own. */
function alone(name, job) {
  const locks = globalThis.navigator?.locks
  if (!locks) return job()
  return new Promise((resolve, reject) => {
    const locked = async () => {
      await job().then(resolve, reject)
      await pause(VISIBLE_AFTER)
    }
    locks.request(name, locked).catch(reject)
  })
}

/** Creates the session of a client: tokens for its calls, and the methods of api.session. call makes a request. */
function createSession(base, masterKey, shared, call) {
  const storage = shared ?? memory()
  const key = `session of ${base}`
  const listeners = new Set()
  let user = null
  let refreshing

  function parseState(text) {
    let state = null
    try { state = JSON.parse(text ?? 'null') } catch {}
    if (!state?.user) state = null // not of this client
    if (JSON.stringify(state?.user) !== JSON.stringify(user ?? undefined)) {
      user = state?.user ?? null
      for (const listener of listeners) queueMicrotask(() => listener(user)) // its errors are not those of a call
    }
    return state
  }

  async function load() {
    return parseState(await storage.getItem(key))
  }

  async function save(state) {
    const text = JSON.stringify(state)
    await (state ? storage.setItem(key, text) : storage.removeItem(key))
    parseState(text)
  }

  /** Replaces the tokens of a state, unless another call or tab has done so. Resolves to the state, null if the session has ended. */
  async function exchange(old) {
    const state = await load()
    if (state?.refreshToken !== old.refreshToken) return state // two access tokens of a second are the same
    let next = null
    try {
      const body = { refresh_token: state.refreshToken } // valid for another 30 s if the response is lost
      next = newState((await call('POST', '/auth/refresh', { body, anonymous: true, safe: true })).body)
    } catch (problem) {
      if (problem.status !== 401) throw problem
    }
    const current = await load()
    if (current?.refreshToken !== state.refreshToken) return current // signed in or out meanwhile
    await save(next)
    return next
  }

  function refresh(old) {
    refreshing ??= (shared ? alone(key, () => exchange(old)) : exchange(old)).finally(() => { refreshing = undefined })
    return refreshing
  }

  /** Resolves to the state with a token that has not expired, null without a session. */
  async function current() {
    const state = await load()
    return state?.refreshAt && Date.now() >= state.refreshAt ? refresh(state) : state
  }

  /** Makes a request without the session. Resolves to the body. */
  async function send(method, path, options, rest) {
    return (await call(method, path, { ...rest, signal: options?.signal, anonymous: true })).body
  }

  /** Makes the request of a way to sign in. Resolves to the body of the response. */
  async function prove({ email, password, challenge, emailCode, provider, passkey, mediation, ...proof }, options) {
    if (provider) return send('POST', '/auth/{provider}', options, { path: { provider }, body: proof })
    if (passkey) {
      const { challenge, publicKey } = await send('POST', '/auth/passkey/options', options)
      const request = { publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey), mediation, signal: options?.signal }
      const credential = await navigator.credentials.get(request)
      return send('POST', '/auth/passkey', options, { body: { challenge, credential: credential.toJSON() } })
    }
    if (emailCode !== undefined) return send('PUT', '/auth/email-code', options, { body: { challenge, code: emailCode } })
    if (challenge) return send('POST', '/auth/second-factor', options, { body: { challenge, ...proof } })
    if (password === undefined) return send('POST', '/auth/email-code', options, { body: { email } })
    const basic = btoa(String.fromCharCode(...new TextEncoder().encode(`${email}:${password}`)))
    return send('POST', '/auth', options, { header: { Authorization: `Basic ${basic}` }, body: { access_token: masterKey } })
  }

  async function signIn(proof, options) {
    const body = await prove(proof, options)
    if (!body.token) return { challenge: body.challenge } // of the code by email
    await save(newState(body))
    return body.user
  }

  async function signUp(fields, options) {
    const header = { 'Idempotency-Key': newKey() }
    await send('POST', '/users', options, { header, body: fields, safe: true })
    return signIn({ email: fields.email, password: fields.password }, options)
  }

  /** Ends the session, also here if the service is unreachable. */
  async function signOut(options) {
    if (!await load()) return
    try {
      await call('DELETE', '/auth', { signal: options?.signal })
    } catch (problem) {
      if (problem.status !== 401) throw problem
    } finally {
      await save(null)
    }
  }

  function onChange(listener) {
    const entry = (user) => listener(user) // so that each addition can be removed
    listeners.add(entry)
    return () => { listeners.delete(entry) }
  }

  const first = storage.getItem(key)
  if (typeof first?.then === 'function') first.then(parseState).catch(() => {}) // the first call reports the error
  else parseState(first)
  globalThis.addEventListener?.('storage', () => { load().catch(() => {}) }) // of another tab
  return { load, current, refresh, methods: { get user() { return user }, signIn, signUp, signOut, onChange } }
}
