// Signs in with Google, links Facebook, and shows that a response to another sign-in is rejected. It uses the fake
// providers. Run it by the guide: docs/authentication.md.
import { webcrypto } from 'node:crypto'
import { Session } from './session.mjs'
import { comeBack, leave } from './social.mjs'

globalThis.crypto ??= webcrypto // Node.js 18
let kept = null
const store = { load: () => kept, save: (token) => { kept = token }, alone: (job) => job() }
const items = new Map()
const storage = {
  getItem: (key) => items.get(key) ?? null, setItem: (key, value) => items.set(key, value), removeItem: (key) => items.delete(key),
}
const google = {
  provider: 'google', authorize: 'http://127.0.0.1:9100/google/o/oauth2/v2/auth', scope: 'openid email profile',
  clientId: '123456789012', redirectURI: 'http://localhost:3000/google',
}
const facebook = {
  provider: 'facebook', authorize: 'http://127.0.0.1:9100/facebook/dialog/oauth', scope: 'public_profile email',
  clientId: '123456789012', redirectURI: 'http://localhost:3000/facebook',
}

/** What the user and the browser do at the provider: the user consents, the browser follows Location. */
async function consent(address) {
  const form = new URLSearchParams({ user: '1815', decision: 'allow' })
  return (await fetch(address, { method: 'POST', body: form, redirect: 'manual' })).headers.get('Location')
}

const session = new Session('http://localhost:9000', store)
async function finish(address) {
  const { provider, link, proof } = comeBack(address, { storage })
  return link ? session.link(provider, proof) : session.signInWith(provider, proof)
}
const back = await consent(await leave(google, { storage }))
console.log((await finish(back)).email)

await finish(await consent(await leave(facebook, { storage, link: true })))
const linked = await session.call('/auth/identities')
const sessions = await session.call('/auth/sessions')
console.log(`linked: ${linked.rows.map((row) => row.provider)}; sessions: ${sessions.count}`)

await leave(google, { storage }) // a new sign-in starts, and the response to the old one arrives
try {
  await finish(back)
} catch (error) {
  console.log(error.message)
}
