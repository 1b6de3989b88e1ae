const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32))) // 43 characters

/** Returns the address of the provider's page. at is a row of GET /auth/providers, with the redirectURI. */
export async function leave(at, { linking = false, storage = sessionStorage } = {}) {
  const state = random()
  const verifier = random()
  const challenge = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  storage.setItem('pending', JSON.stringify({ provider: at.id, redirectURI: at.redirectURI, linking, state, verifier: at.pkce ? verifier : undefined }))
  const address = new URL(at.authorizationUrl) // can have a query
  const params = { response_type: 'code', client_id: at.clientId, redirect_uri: at.redirectURI, scope: at.scopes.join(' '), state }
  if (at.pkce) Object.assign(params, { code_challenge: challenge, code_challenge_method: 'S256' })
  for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value)
  return address.href
}

/** Reads the address that the provider redirected to. proof is the argument of api.session.signIn and of link. */
export function comeBack(address, { storage = sessionStorage } = {}) {
  const params = new URL(address).searchParams
  const pending = JSON.parse(storage.getItem('pending'))
  storage.removeItem('pending') // a state is valid once
  if (!pending || params.get('state') !== pending.state || address.split(/[?#]/)[0] !== pending.redirectURI) {
    throw new Error('This tab did not start this sign-in.')
  }
  if (!params.has('code')) throw new Error(params.get('error_description') ?? params.get('error') ?? 'no code')
  const { provider, linking, redirectURI: redirect_uri, verifier: code_verifier } = pending
  return { linking, proof: { provider, code: params.get('code'), redirect_uri, code_verifier } }
}

/** Links a provider account to the user of a client. The response opens a second session, which is closed. */
export async function link(api, { provider, ...body }) {
  const linked = await api.request('POST', '/auth/{provider}', { params: { path: { provider } }, body }).catch((problem) => {
    if (problem.code !== 'second_factor_required') throw problem // otherwise linked, without a second session
  })
  if (!linked) return
  const header = { Authorization: `Bearer ${linked.token}` }
  await api.request('DELETE', '/auth', { params: { header } }).catch(() => {}) // otherwise it expires
}
