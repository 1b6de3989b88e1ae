// Signs in with Google, links Facebook, and shows that a response to another sign-in is rejected. It uses the fake
// providers. Run it by the guide: docs/authentication.md.
import { createClient } from '../../clients/typescript/index.js'
import { comeBack, leave, link } from './social.mjs'

const items = new Map()
const storage = {
  getItem: (key) => items.get(key) ?? null, setItem: (key, value) => items.set(key, value), removeItem: (key) => items.delete(key),
}
const api = createClient({ url: 'http://localhost:9000' })
const { rows } = await api.request('GET', '/auth/providers')
const provider = (id) => ({ ...rows.find((row) => row.id === id), redirectURI: `http://localhost:3000/${id}` })
const google = provider('google')
const facebook = provider('facebook')

/** What the user and the browser do at the provider: the user consents, the browser follows Location. */
async function consent(address) {
  const form = new URLSearchParams({ user: '1815', decision: 'allow' })
  return (await fetch(address, { method: 'POST', body: form, redirect: 'manual' })).headers.get('Location')
}

async function finish(address) {
  const { linking, proof } = comeBack(address, { storage })
  return linking ? link(api, proof) : api.session.signIn(proof)
}
const back = await consent(await leave(google, { storage }))
console.log((await finish(back)).email)

await finish(await consent(await leave(facebook, { storage, linking: true })))
const linked = await api.request('GET', '/auth/identities')
const sessions = await api.request('GET', '/auth/sessions')
console.log(`linked: ${linked.rows.map((row) => row.provider)}; sessions: ${sessions.count}`)

await leave(google, { storage }) // a new sign-in starts, and the response to the old one arrives
try {
  await finish(back)
} catch (error) {
  console.log(error.message)
}
