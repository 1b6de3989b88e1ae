// Shows that ten concurrent calls make one refresh: after a reload, and after the access token has expired.
// Run it by the guide: docs/authentication.md.
import { Session, memoryStore } from './session.mjs'

let refreshes = 0
let expired = 0 // number of calls that still send an invalid token
const real = fetch
globalThis.fetch = (url, init) => {
  if (url.endsWith('/auth/refresh')) refreshes++
  else if (expired-- > 0) init.headers.Authorization += 'x'
  return real(url, init)
}
const ten = (session) => Promise.all(Array.from({ length: 10 }, () => session.call('/users/me')))

const store = memoryStore()
await new Session('http://localhost:9000', store).signIn('grace@example.com', 'first compiler')
const reloaded = new Session('http://localhost:9000', store)
await ten(reloaded)
console.log(`reloaded: 10 calls, ${refreshes} refresh`)

expired = 10
await ten(reloaded)
console.log(`expired: 10 calls, ${refreshes - 1} refresh`)

await reloaded.signOut()
const error = await reloaded.call('/users/me').catch((problem) => problem)
console.log(`signed out: ${error.code ?? error.message}, signed in ${await reloaded.signedIn()}`)
