// Calls the service through a proxy that compares each request and response with docs/openapi.json (prism). A request or
// response that the document does not describe is an error.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'

/** Resolves to a free port: prism cannot choose one and print it. */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** Starts prism before the service at the address, and calls job with the address of the proxy. */
async function withProxy(program, document, upstream, job) {
  const port = await freePort()
  const proxy = spawn(program, ['proxy', document, upstream, '--errors', '--host', '127.0.0.1', '--port', port], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => proxy.once('exit', resolve))
  try {
    await new Promise((resolve, reject) => {
      proxy.stdout.on('data', (text) => String(text).includes('is listening') && resolve())
      ended.then(() => reject(new Error('prism has not started')))
    })
    await job(`http://127.0.0.1:${port}`)
  } finally {
    proxy.kill('SIGTERM')
    await ended
  }
}

/** Makes the calls through prism; resolves to their number. */
export async function calls(program, document, { address, masterKey, said }) {
  let number = 0
  const problems = []
  await withProxy(program, document, address, async (proxy) => {
    /** Sends one request, and resolves to its response; status is what the service must answer. */
    async function call(status, method, path, { token, basic, headers = {}, json, form } = {}) {
      number++
      if (token) headers.Authorization = `Bearer ${token}`
      if (basic) headers.Authorization = `Basic ${btoa(basic)}`
      if (json) headers['Content-Type'] = 'application/json'
      const body = json ? JSON.stringify(json) : form && new URLSearchParams(form)
      const response = await fetch(proxy + path, { method, headers, body })
      const text = await response.text()
      if (response.status !== status || text.includes('stoplight.io')) problems.push(`${method} ${path}: ${response.status} ${text}`)
      return { headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : {} }
    }
    const signIn = async (basic) => (await call(201, 'POST', '/auth', { basic, json: { access_token: masterKey } })).body

    const ada = (await call(201, 'POST', '/users', { token: masterKey, json: { email: 'ada@example.com', password: 'analytical engine' } })).body
    await call(201, 'POST', '/users', { token: masterKey, form: { email: 'grace@example.com', password: 'first compiler', name: 'Grace', role: 'admin' } })
    await call(409, 'POST', '/users', { token: masterKey, json: { email: 'ada@example.com', password: 'analytical engine' } })
    await call(401, 'POST', '/users', { token: 'wrong', json: { email: 'eve@example.com', password: 'analytical engine' } })
    await call(401, 'POST', '/auth', { basic: 'ada@example.com:wrong', json: { access_token: masterKey } })
    const signedIn = await signIn('ada@example.com:analytical engine')
    const { token } = signedIn
    const { token: admin } = await signIn('grace@example.com:first compiler')
    const fresh = (await call(201, 'POST', '/auth/refresh', { form: { refresh_token: signedIn.refreshToken } })).body
    await call(401, 'POST', '/auth/refresh', { json: { refresh_token: 'unknown' } })
    await call(200, 'GET', '/auth/sessions', { token })
    await call(401, 'GET', '/auth/sessions', { token: 'invalid' })
    await call(404, 'DELETE', `/auth/sessions/${ada.id}`, { token })
    await call(204, 'DELETE', '/auth/sessions', { token: fresh.token })
    await call(200, 'GET', '/auth/identities', { token })
    await call(404, 'DELETE', '/auth/identities/google', { token })

    const me = await call(200, 'GET', '/users/me', { token })
    await call(304, 'GET', '/users/me', { token, headers: { 'If-None-Match': me.headers.get('ETag') } })
    await call(200, 'GET', `/users/${ada.id}`)
    await call(200, 'GET', `/users/${ada.id}`, { token })
    await call(404, 'GET', '/users/65f0c1d2e3a4b5c6d7e8f999')
    await call(200, 'PATCH', `/users/${ada.id}`, { token, json: { name: 'Ada Lovelace' } })
    await call(200, 'PUT', '/users/me', { token, form: { picture: 'https://example.com/ada.png' } })
    await call(412, 'PATCH', `/users/${ada.id}`, { token, headers: { 'If-Match': '"old"' }, json: { name: 'Ada' } })
    await call(403, 'GET', '/users', { token })
    for (const query of ['', '?q=ada', '?sort=-createdAt&limit=1', '?fields=id,name', '?role=admin', '?page=2&limit=1', '?count=false']) {
      await call(200, 'GET', `/users${query}`, { token: admin })
    }
    await call(200, 'PUT', `/users/${ada.id}/password`, { basic: 'ada@example.com:analytical engine', json: { access_token: masterKey, password: 'difference engine' } })
    const { token: user } = await signIn('ada@example.com:difference engine')

    const key = { 'Idempotency-Key': 'one' }
    const article = await call(201, 'POST', '/articles', { token: user, headers: key, json: { title: 'On ginseng', content: 'A root.' } })
    await call(201, 'POST', '/articles', { token: user, headers: key, json: { title: 'On ginseng', content: 'A root.' } })
    await call(422, 'POST', '/articles', { token: user, headers: key, json: { title: 'On roots' } })
    await call(201, 'POST', '/articles', { token: user, form: { title: 'On roots' } })
    await call(401, 'POST', '/articles', { token: 'invalid', json: { title: 'On roots' } })
    const { id } = article.body
    for (const query of ['', '?q=gins', '?q=nothing', '?sort=title,-createdAt', '?fields=title', '?fields=-content', `?userId=${ada.id}`, `?userId[in]=${ada.id},${id}`,
      `?userId[ne]=${id}`, '?createdAt[gte]=2026-01-01T00:00:00Z&createdAt[lt]=2100-01-01T00:00:00Z', '?limit=1&page=2', '?limit=1&count=false']) {
      await call(200, 'GET', `/articles${query}`)
    }
    const first = (await call(200, 'GET', '/articles?limit=1')).body
    const page = await call(200, 'GET', `/articles?limit=1&after=${first.next}`)
    await call(304, 'GET', `/articles?limit=1&after=${first.next}`, { headers: { 'If-None-Match': page.headers.get('ETag') } })
    const read = await call(200, 'GET', `/articles/${id}`)
    await call(304, 'GET', `/articles/${id}`, { headers: { 'If-None-Match': read.headers.get('ETag') } })
    await call(404, 'GET', '/articles/65f0c1d2e3a4b5c6d7e8f999')
    await call(200, 'PATCH', `/articles/${id}`, { token: user, headers: { 'If-Match': read.headers.get('ETag') }, json: { title: 'On gardens' } })
    await call(412, 'PATCH', `/articles/${id}`, { token: user, headers: { 'If-Match': read.headers.get('ETag') }, json: { title: 'On tea' } })
    await call(200, 'PUT', `/articles/${id}`, { token: user, json: { content: null } })
    await call(200, 'PATCH', `/articles/${id}`, { token: admin, form: { content: 'Changed by an admin.' } })
    await call(204, 'DELETE', `/articles/${id}`, { token: user })
    await call(404, 'DELETE', `/articles/${id}`, { token: user })

    const selector = { matchLabels: { app: 'reviews' } }
    const policy = (await call(201, 'POST', '/policies', { token: admin, json: { name: 'reviews', namespace: 'shop', selector } })).body
    await call(409, 'POST', '/policies', { token: admin, json: { name: 'reviews', namespace: 'shop' } })
    await call(403, 'POST', '/policies', { token: user, json: { name: 'other', namespace: 'shop' } })
    for (const query of ['', '?namespace=shop', '?fields=name', '?sort=name']) await call(200, 'GET', `/policies${query}`, { token: user })
    await call(200, 'GET', `/policies/${policy.id}`, { token: user })
    await call(200, 'PATCH', `/policies/${policy.id}`, { token: admin, json: { selector: null } })
    await call(200, 'POST', '/policies/evaluate', { token: user, json: { namespace: 'shop', metadata: { labels: { app: 'reviews' } } } })
    await call(204, 'DELETE', `/policies/${policy.id}`, { token: admin })

    await call(202, 'POST', '/password-resets', { token: masterKey, json: { email: 'ada@example.com', link: 'https://app.example.com/reset/{token}' } })
    await call(404, 'GET', '/password-resets/unknown')
    await call(404, 'PUT', '/password-resets/unknown', { json: { password: 'another engine' } })

    const link = (path) => ({ link: `https://app.example.com/${path}/{token}` })
    await call(202, 'POST', '/users/me/email-verification', { token: user, json: link('verify') })
    await call(401, 'POST', '/users/me/email-verification', { token: 'invalid', json: link('verify') })
    const [, verification] = await said(/https:\/\/app\.example\.com\/verify\/([\w-]+)/)
    await call(200, 'GET', `/email-verifications/${verification}`)
    await call(200, 'PUT', `/email-verifications/${verification}`)
    await call(404, 'GET', '/email-verifications/unknown')
    await call(404, 'PUT', '/email-verifications/unknown')
    await call(409, 'POST', '/users/me/email-verification', { token: user, json: link('verify') })
    const basic = 'ada@example.com:difference engine'
    await call(202, 'PUT', '/users/me/email', { basic, json: { access_token: masterKey, email: 'ada@example.org', ...link('change') } })
    await call(401, 'PUT', '/users/me/email', { basic: 'ada@example.com:wrong', json: { access_token: masterKey, email: 'ada@example.org', ...link('change') } })
    await call(409, 'PUT', '/users/me/email', { basic, json: { access_token: masterKey, email: 'grace@example.com', ...link('change') } })

    await call(204, 'DELETE', '/auth', { token: user })
    await call(204, 'DELETE', `/users/${ada.id}`, { token: admin })
  })
  assert.deepEqual(problems, [])
  return number
}
