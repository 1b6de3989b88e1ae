// The session of the admin: the client, requests that are repeated after a sign-in, and transfers of files.

import { createClient, Problem } from './client.js'
import { shareSession } from './tabs.js'

const data = document.documentElement.dataset

export const service = { name: data.name, masterKey: 'masterKey' in data, passkeys: 'passkeys' in data, emailCodes: 'emailCodes' in data, providers: 'providers' in data, first: 'first' in data }
export const base = new URL(data.api, location.href).href.replace(/\/$/, '')

const storageKey = `session of ${base}` // of the client
const listeners = new Set()

/** The function that shows the sign-in dialog, with a message; it resolves to whether the admin has signed in. */
export const dialog = { show: undefined }
let showing
function showDialog(options) {
  return showing ??= dialog.show(options).finally(() => { showing = undefined })
}

const notify = () => listeners.forEach((listener) => listener())
const storage = await shareSession(storageKey, (ended) => (ended ? dialog.show && showDialog({}) : notify()))
const client = createClient({ url: base, storage })
client.session.onChange(notify)

/** Returns the state in the storage of the client. */
function state() {
  try { return JSON.parse(sessionStorage.getItem(storageKey)) ?? {} } catch { return {} }
}
const token = () => state().token
export const user = () => state().user
/** Returns the user whose page this is until it is reloaded, also after the session. */
export const owner = () => storage.owner
export const onSession = (listener) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Signs in with a proof of the client. masterKey is for services that require it, and is not kept. Only a session of an admin, and of the owner of the page if
 * it has one, is stored and shared with other tabs. Resolves to the user, or to the challenge of a code by email.
 */
export async function signIn(proof, masterKey) {
  let text
  const unshared = { getItem: () => text, setItem: (_, next) => { text = next }, removeItem: () => { text = undefined } }
  const { session } = createClient({ url: base, masterKey, storage: unshared })
  const result = await session.signIn(proof)
  if (result.challenge) return result
  const other = owner() && result.id !== owner().id
  if (other || result.role !== 'admin') {
    await session.signOut().catch(() => {})
    throw new Error(other ? `Sign in as ${owner().email}.` : 'This account is not an administrator.')
  }
  const former = token()
  storage.setItem(storageKey, text)
  dispatchEvent(new Event('storage')) // the client reads it
  if (former) fetch(`${base}/auth`, { method: 'DELETE', headers: { Authorization: `Bearer ${former}` } }).catch(() => {}) // the new session replaces it
  notify()
  return result
}

export const signOut = () => client.session.signOut()

export const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Lets the admin sign in, if that is what the problem requires. Resolves to whether the request can be repeated. */
async function recover(problem) {
  const stepUp = problem.status === 403 && problem.code === 'reauthentication_required'
  const suspended = problem.status === 403 && problem.code === 'suspended'
  if (!dialog.show || !(problem instanceof Problem) || (problem.status !== 401 && !stepUp && !suspended)) return false
  return showDialog({ stepUp, message: suspended ? problem.detail : undefined })
}

/** Makes a request, with masterKey as that caller. Otherwise, it is repeated after a sign-in if it needs one and is not quiet. Resolves to the body, which has the ETag in the property etag. */
export async function call(method, path, { query, body, etag, key, masterKey, signal, quiet } = {}) {
  const header = { Authorization: masterKey ? `Bearer ${masterKey}` : undefined, 'If-Match': etag, 'Idempotency-Key': key }
  for (;;) {
    try {
      return await client.request(method, path, { params: { query, header }, body, signal })
    } catch (problem) {
      if (quiet || masterKey || signal?.aborted || !await recover(problem)) throw problem
    }
  }
}

/** Makes a request with XMLHttpRequest, which reports the progress of uploads. Resolves to a Response. */
function upload(method, url, headers, body, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total)
    request.onerror = () => reject(new TypeError('the connection was cut'))
    request.onload = () => resolve(new Response(request.status === 204 ? null : request.response, { status: request.status }))
    request.send(body)
  })
}

/** Makes a request for bytes: a file, an export, the API document. url is a path of the API or a URL. Resolves to the Response. */
export async function transfer(method, url, { body, onProgress, signal, etag } = {}) {
  for (let renewed = false; ; renewed = true) {
    const address = url.startsWith('/') ? base + url : url
    const headers = { Authorization: `Bearer ${token()}` }
    if (etag) headers['If-Match'] = etag
    if (body) headers['Content-Type'] = body.type.replace(/^multipart.*|^$/, 'application/octet-stream')
    let response
    try {
      response = await (onProgress ? upload(method, address, headers, body, onProgress) : fetch(address, { method, headers, body, signal }))
    } catch (cause) {
      signal?.throwIfAborted()
      throw new Problem(0, { code: 'network', detail: `No complete response: ${cause.message}.` })
    }
    if (response.ok) return response
    const problem = new Problem(response.status, await response.json().catch(() => ({})))
    if (problem.status === 401 && !renewed) await call('GET', '/users/me') // refreshes the token, or lets the admin sign in
    else if (!await recover(problem)) throw problem
  }
}

/** Sends a request that continues after the page is left. */
export function sendLast(method, path, etag) {
  const headers = { Authorization: `Bearer ${token()}` }
  if (etag) headers['If-Match'] = etag
  fetch(base + path, { method, headers, keepalive: true }).catch(() => {})
}
