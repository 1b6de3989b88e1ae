// Starts oidc-provider, a certified OpenID provider, on the loopback interface, configured as one of the providers that
// the service knows, and signs in with it as a browser does.

import { createServer } from 'node:http'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { SignJWT, importJWK, importSPKI, jwtVerify } from 'jose'
import Provider from 'oidc-provider'

export const client = { id: 'ginseng', secret: 'client-secret-0123456789abcdef', redirectURI: 'http://127.0.0.1:1/callback' }
export const tenant = '4e2d5b5c-3b8f-4d5e-9b1a-0a6c1f0e7d21'
export const apple = { team: 'A1B2C3D4E5', keyID: 'ABC123DEFG', ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) }

/** Keys in a key set that clients must ignore. */
const unknownKeys = [
  { kty: 'AKP', alg: 'ML-DSA-44', kid: 'unknown-1', pub: 'AA' }, { kty: 'OKP', crv: 'Ed448', kid: 'unknown-2', x: 'AA' },
  { kty: 'EC', crv: 'secp256k1', alg: 'ES256K', kid: 'unknown-3', x: 'AA', y: 'AA' }, { kty: 'EC', crv: 'secp256k1', kid: 'unknown-4', x: 'AA', y: 'AA' },
  { kty: 'RSA', kid: 'malformed' },
]

function newKey(alg) {
  const { privateKey } = alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: randomUUID() }
}

/**
 * The ways in which the providers differ. change gets the name of the route and the body of the response. wellKnown is the
 * path of the discovery document, if it differs from the standard.
 */
const kinds = {
  google: {},
  microsoft: {
    issuerPath: `/${tenant}/v2.0`,
    wellKnown: '/common/v2.0/.well-known/openid-configuration',
    claims: { openid: ['sub', 'tid'], email: ['email'] }, // no email_verified
    change: (route, body) => {
      if (route === 'discovery') body.issuer = body.issuer.replace(tenant, '{tenantid}')
    },
  },
  apple: {
    authMethods: ['client_secret_post'],
    claims: { email: ['email', 'email_verified'] }, // no name
    userinfo: false,
    isSecret: async (secret, issuer) => {
      const key = await importSPKI(apple.publicKey.export({ format: 'pem', type: 'spki' }), 'ES256')
      const { payload, protectedHeader } = await jwtVerify(secret, key, {
        issuer: apple.team, subject: client.id, audience: issuer, algorithms: ['ES256'], maxTokenAge: '180 days',
      })
      return protectedHeader.kid === apple.keyID && payload.exp - payload.iat <= 180 * 24 * 3600
    },
  },
  plain: {
    alg: 'ES256',
    issuerPath: '/', // the setting has no slash
    authMethods: ['client_secret_basic'],
    change: async (route, body, key) => {
      if (route === 'jwks') body.keys.unshift(...unknownKeys)
      if (route === 'discovery') body.id_token_signing_alg_values_supported.unshift('none', 'HS256', 'ES256K', 'ML-DSA-44')
      if (route === 'token' && body.id_token) body.id_token = await withoutSubject(body.id_token, key)
    },
  },
}

/** Removes sub from the ID token of the account no-sub. */
async function withoutSubject(token, key) {
  const { sub, ...claims } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url'))
  if (sub !== 'no-sub') return token
  return new SignJWT(claims).setProtectedHeader({ alg: key.alg, kid: key.kid }).sign(await importJWK(key, key.alg))
}

/** Keeps the state of a provider in a Map, also when its keys rotate. */
const adapter = (states) => (model) => {
  const key = (id) => `${model}:${id}`
  return {
    upsert: async (id, payload) => { states.set(key(id), payload) },
    find: async (id) => states.get(key(id)),
    findByUid: async (uid) => [...states.values()].find((payload) => payload.uid === uid),
    consume: async (id) => { states.get(key(id)).consumed = Math.floor(Date.now() / 1000) },
    destroy: async (id) => { states.delete(key(id)) },
    revokeByGrantId: async (grantId) => {
      for (const [name, payload] of states) if (payload.grantId === grantId) states.delete(name)
    },
  }
}

/** A provider. accounts has the claims of each account by its ID. */
export class Fake {
  #provider
  #handler
  #server
  #states = new Map()
  #named = new Set() // accounts whose name Apple has sent

  constructor(kind) {
    this.kind = kind
    this.accounts = {}
    this.up = true
    this.requests = []
  }

  async start() {
    this.#server = createServer((request, response) => {
      if (!this.up) return request.socket.destroy()
      this.requests.push(request.url.split('?')[0])
      if (request.url === kinds[this.kind].wellKnown) request.url = '/.well-known/openid-configuration'
      else if (kinds[this.kind].wellKnown && request.url.startsWith('/.well-known')) request.url = '/nothing'
      return this.#handler(request, response)
    })
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.address = `http://127.0.0.1:${this.#server.address().port}`
    this.rotate()
    return this
  }

  stop() {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** Replaces the key that signs, and forgets the old one. Codes stay valid. */
  rotate() {
    const kind = kinds[this.kind]
    const key = newKey(kind.alg ?? 'RS256')
    const issuer = this.address + (kind.issuerPath ?? '')
    const provider = new Provider(issuer, {
      clients: [client, { id: 'another-app', secret: 'another-secret', redirectURI: client.redirectURI }].map(({ id, secret, redirectURI }) => ({
        client_id: id, client_secret: secret, redirect_uris: [redirectURI], response_types: ['code'], grant_types: ['authorization_code'],
        token_endpoint_auth_method: kind.authMethods?.[0] ?? 'client_secret_post', id_token_signed_response_alg: key.alg,
      })),
      adapter: adapter(this.#states),
      clientAuthMethods: kind.authMethods ?? ['client_secret_basic', 'client_secret_post'],
      jwks: { keys: [key] },
      ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      cookies: { keys: ['a key of the cookies'] },
      scopes: ['openid', 'email', 'profile', 'name'],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], ...kind.claims },
      conformIdTokenClaims: false, // claims in the ID token, as the real ones do
      features: { devInteractions: { enabled: false }, userinfo: { enabled: kind.userinfo ?? true } },
      pkce: { required: () => false },
      interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...this.accounts[id] }) }),
      loadExistingGrant: async (ctx) => { // everybody consents
        const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId })
        grant.addOIDCScope('openid email profile name')
        await grant.save()
        return grant
      },
    })
    if (kind.isSecret) provider.Client.prototype.compareClientSecret = (secret) => kind.isSecret(secret, issuer).catch(() => false)
    provider.use(async (ctx, next) => {
      await next()
      await kind.change?.(ctx.oidc?.route, ctx.body, key)
      const account = ctx.oidc?.session?.accountId
      if (this.kind === 'apple' && ctx.type === 'text/html' && account && !this.#named.has(account)) {
        this.#named.add(account)
        const user = JSON.stringify({ name: { firstName: 'Ada', lastName: 'Lovelace' } }).replaceAll('"', '&quot;')
        ctx.body = ctx.body.replace('</form>', `<input type="hidden" name="user" value="${user}"/></form>`)
      }
    })
    this.#provider = provider
    const callback = provider.callback()
    this.#handler = async (request, response) => {
      if (!request.url.startsWith('/interaction/')) return callback(request, response)
      const { params } = await this.#provider.interactionDetails(request, response)
      return this.#provider.interactionFinished(request, response, { login: { accountId: params.login_hint } })
    }
  }

  /** Signs in at the provider from a row of GET /auth/providers. Returns the parameters of the response to the client. */
  async signIn(row, account, extra) {
    const address = new URL(row.authorizationUrl)
    const params = { response_type: 'code', client_id: row.clientId, redirect_uri: client.redirectURI, scope: row.scopes.join(' '), state: 'x', login_hint: account, ...extra }
    for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value)
    const cookies = new Map()
    for (let next = address; ;) {
      const response = await fetch(next, { redirect: 'manual', headers: { Cookie: [...cookies].map((pair) => pair.join('=')).join('; ') } })
      for (const cookie of response.headers.getSetCookie()) cookies.set(...cookie.split(';')[0].split(/=(.*)/s).slice(0, 2))
      const body = await response.text()
      if (response.status === 200) { // form_post
        const inputs = [...body.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name, value.replaceAll('&quot;', '"')])
        return new URLSearchParams(inputs)
      }
      if (!response.headers.has('Location')) throw new Error(`${next}: ${response.status} ${body}`)
      next = new URL(response.headers.get('Location'), next)
      if (next.href.startsWith(client.redirectURI)) return next.searchParams
    }
  }
}
