/** An error response of the API (RFC 9457). Switch on code; errors lists the invalid parameters. */
export class Problem extends Error {
  constructor(response, body) {
    super(body.detail ?? `HTTP ${response.status}`)
    this.status = response.status
    this.code = body.code
    this.errors = body.errors ?? []
    this.challenge = body.challenge // of second_factor_required, for Session.secondFactor
    this.retryAfter = Number(response.headers.get('Retry-After')) // seconds; 0 without the header
  }
}

/** Calls the API. json is a value to send; init is that of fetch. Resolves to the JSON body, or null for 204. Rejects with a Problem, or with the error of fetch. */
export async function send(url, { json, headers, ...init } = {}) {
  const response = await fetch(url, {
    ...init,
    headers: json ? { 'Content-Type': 'application/json', ...headers } : headers,
    body: json ? JSON.stringify(json) : init.body,
    credentials: 'omit', // no cookies, and no password dialog of the browser at a 401
  })
  if (!response.ok) throw new Problem(response, await response.json().catch(() => ({})))
  return response.status === 204 ? null : response.json()
}

const basic = (email, password) => `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${email}:${password}`)))}`

/** Stores the refresh token. A phone app implements the same methods on its keychain; they may be async. */
export const browserStore = {
  load: () => localStorage.getItem('refreshToken'),
  save: (token) => (token ? localStorage.setItem('refreshToken', token) : localStorage.removeItem('refreshToken')),
  alone: (job) => (navigator.locks ? navigator.locks.request('refreshToken', job) : job()), // one tab at a time
}

/** Stores the refresh token until the program ends: the default outside of pages, as in Node.js. */
export const memoryStore = (token = null) => ({ load: () => token, save: (next) => { token = next }, alone: (job) => job() })

/** A user's session. It sends the access token and refreshes it once for all calls that fail with 401. */
export class Session {
  #base
  #store
  #token = null // the access token, kept only in memory
  #user = null // the id of its user
  #taken = 0 // number of token pairs received
  #refreshing = null

  constructor(base, store = globalThis.document ? browserStore : memoryStore()) {
    this.#base = base
    this.#store = store
  }

  /** Signs in with a password. Requires PUBLIC_SIGNUP=true. */
  async signIn(email, password) {
    return this.take(await send(`${this.#base}/auth`, { method: 'POST', headers: { Authorization: basic(email, password) } }))
  }

  /** Signs in with a provider. proof is the body of POST /auth/:provider. */
  async signInWith(provider, proof) {
    return this.take(await send(`${this.#base}/auth/${provider}`, { method: 'POST', json: proof }))
  }

  /** Signs in with a passkey, in a page. init is passed to navigator.credentials.get. Requires PUBLIC_SIGNUP=true. */
  async signInWithPasskey(init) {
    const { challenge, publicKey } = await send(`${this.#base}/auth/passkey/options`, { method: 'POST' })
    const options = { ...init, publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) }
    const credential = await navigator.credentials.get(options) // NotAllowedError: the user canceled, or has no passkey
    return this.take(await send(`${this.#base}/auth/passkey`, { method: 'POST', json: { challenge, credential: credential.toJSON() } }))
  }

  /** Sends a code by email. Resolves to the challenge for signInWithEmailCode. Requires PUBLIC_SIGNUP=true. */
  async requestEmailCode(email) {
    return (await send(`${this.#base}/auth/email-code`, { method: 'POST', json: { email } })).challenge
  }

  /** Signs in with the code of the email. */
  async signInWithEmailCode(challenge, code) {
    return this.take(await send(`${this.#base}/auth/email-code`, { method: 'PUT', json: { challenge, code } }))
  }

  /** Completes any sign-in that rejected with second_factor_required. proof is { code } or { recovery_code }. */
  async secondFactor(challenge, proof) {
    return this.take(await send(`${this.#base}/auth/second-factor`, { method: 'POST', json: { challenge, ...proof } }))
  }

  /** Adds a passkey for the user, in a page. Requires a session that was opened in the last 10 minutes. */
  async addPasskey(name) {
    const { challenge, publicKey } = await this.call('/users/me/passkeys/options', { method: 'POST' })
    const options = { publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) }
    const credential = await navigator.credentials.create(options) // InvalidStateError: the device has a passkey of the user
    return this.call('/users/me/passkeys', { method: 'POST', json: { challenge, credential: credential.toJSON(), name } })
  }

  /** Links a provider account to the user. The response opens a second session, which is closed. */
  async link(provider, proof) {
    const linked = await this.call(`/auth/${provider}`, { method: 'POST', json: proof }).catch((problem) => {
      if (problem.code !== 'second_factor_required') throw problem
    })
    if (!linked) return this.call('/users/me') // linked, without a second session
    const { token, user } = linked
    const headers = { Authorization: `Bearer ${token}` }
    await send(`${this.#base}/auth`, { method: 'DELETE', headers }).catch(() => {}) // otherwise it expires
    return user
  }

  /** Starts the session from the response of any sign-in. */
  async take({ token, refreshToken, user }) {
    await this.#store.save(refreshToken) // first: the previous one is used up
    this.#token = token
    this.#user = user.id
    this.#taken++
    return user
  }

  /** Calls the API as the user. On 401, refreshes and repeats once. If it still rejects, check signedIn(). */
  call(path, init = {}) {
    return this.#asUser((Authorization) => send(this.#base + path, { ...init, headers: { ...init.headers, Authorization } }))
  }

  /** Like fetch(request, init) as the user, for libraries that build a Request. init has no headers. Rejects with a Problem on 401. */
  fetch(request, init) {
    return this.#asUser(async (authorization) => {
      const copy = request.clone() // a body can be read once
      copy.headers.set('Authorization', authorization)
      const response = await fetch(copy, init)
      if (response.status === 401) throw new Problem(response, await response.json().catch(() => ({})))
      return response
    })
  }

  /** Resolves to whether there is a session. */
  async signedIn() {
    return Boolean(await this.#store.load())
  }

  /** Changes the password. All sessions end: sign in again. */
  async changePassword(email, current, password) {
    const headers = { Authorization: basic(email, current) }
    await send(`${this.#base}/users/me/password`, { method: 'PUT', headers, json: { password } })
    await this.#forget()
  }

  async signOut() {
    try {
      await this.call('/auth', { method: 'DELETE' })
    } finally {
      await this.#forget()
    }
  }

  async #asUser(job) {
    const { taken, user } = { taken: this.#taken, user: this.#user }
    try {
      if (this.#token) return await job(`Bearer ${this.#token}`)
    } catch (problem) {
      if (problem.status !== 401 || problem.code === 'second_factor_required') throw problem
    }
    if (this.#taken === taken) await this.#refresh() // otherwise another call has refreshed
    if (user && user !== this.#user) throw new Error('Another user has signed in in another tab. Reload the page.')
    return job(`Bearer ${this.#token}`)
  }

  #refresh() {
    this.#refreshing ??= this.#store.alone(() => this.#exchange()).finally(() => { this.#refreshing = null })
    return this.#refreshing
  }

  async #exchange() {
    const refresh_token = await this.#store.load() // another tab may have saved a newer one
    if (!refresh_token) throw Object.assign(new Error('Not signed in.'), { status: 401, code: 'unauthorized' })
    const exchange = () => send(`${this.#base}/auth/refresh`, { method: 'POST', json: { refresh_token }, signal: AbortSignal.timeout(10_000) })
    try {
      await this.take(await exchange().catch((error) => {
        if (error instanceof Problem) throw error
        return exchange() // no response: the same token is valid for another 30 seconds
      }))
    } catch (error) {
      if (error.status !== 401) throw error
      if ((await this.#store.load()) !== refresh_token) return this.#exchange() // signed in again meanwhile
      await this.#forget()
      throw error
    }
  }

  async #forget() {
    this.#token = null
    await this.#store.save(null)
  }
}
