// Sign-in with a provider, in a separate window, so that no form is lost. The provider redirects that window to the page.

import { base } from './session.js'

const channel = new BroadcastChannel('provider')
const here = location.origin + location.pathname // the redirect URI
const base64url = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)))

/** Resolves to the providers. Apple posts its response, which a page cannot receive. */
export const readProviders = () => fetch(`${base}/auth/providers`).then((response) => response.json()).then(({ rows }) => rows.filter(({ id }) => id !== 'apple')).catch(() => [])

/** In the window of a provider: sends its response to the page that has opened the window. Reports whether this is such a window. */
export function sendResponse() {
  if (!new URLSearchParams(location.search).has('state')) return false
  channel.postMessage(location.search)
  history.replaceState(null, '', here)
  window.close()
  return true
}

/** Opens the window of a provider. Resolves to the proof for the client. The signal ends the wait. */
export async function askProvider({ id, authorizationUrl, clientId, scopes, pkce }, signal) {
  const popup = window.open('', '', 'popup,width=520,height=680') // while the click allows it
  if (!popup) throw new Error('The browser has blocked the window of the provider. Allow it, and try again.')
  popup.opener = null
  const state = random(), verifier = random()
  const address = new URL(authorizationUrl) // can have a query
  const params = { response_type: 'code', client_id: clientId, redirect_uri: here, scope: scopes.join(' '), state }
  if (pkce) Object.assign(params, { code_challenge: base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))), code_challenge_method: 'S256' })
  for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value)
  popup.location.href = address.href
  const response = await new Promise((resolve, reject) => {
    channel.addEventListener('message', ({ data }) => {
      const response = new URLSearchParams(data)
      if (response.get('state') === state) resolve(response)
    }, { signal })
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  if (!response.has('code')) throw new Error(response.get('error_description') ?? response.get('error') ?? 'The provider has sent no code.')
  return { provider: id, code: response.get('code'), redirect_uri: here, ...(pkce && { code_verifier: verifier }) }
}
