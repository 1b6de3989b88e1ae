// Shows that a reloaded page keeps the session, and that ten concurrent calls make one refresh after the access token has become invalid.
// Run it by the guide: docs/authentication.md.
import { createClient } from '../../clients/typescript/index.js'

let refreshes = 0
let invalid = 0 // number of calls that still send an invalid token
const items = new Map()
const options = {
  url: 'http://localhost:9000',
  storage: { // as localStorage of a page
    getItem: (key) => items.get(key) ?? null, setItem: (key, value) => items.set(key, value), removeItem: (key) => items.delete(key),
  },
  fetch(url, init) {
    if (url.endsWith('/auth/refresh')) refreshes++
    else if (invalid-- > 0) init.headers.set('Authorization', 'Bearer invalid')
    return fetch(url, init)
  },
}
const ten = (api) => Promise.all(Array.from({ length: 10 }, () => api.request('GET', '/users/me')))

await createClient(options).session.signIn({ email: 'grace@example.com', password: 'first compiler' })
const reloaded = createClient(options)
await ten(reloaded)
console.log(`reloaded: 10 calls as ${reloaded.session.user.name}, ${refreshes} refreshes`)

invalid = 10
await ten(reloaded)
console.log(`invalid token: 10 calls, ${refreshes} refresh`)

await reloaded.session.signOut()
const error = await reloaded.request('GET', '/users/me').catch((problem) => problem)
console.log(`signed out: ${error.code}, user ${reloaded.session.user}`)
