// Receives events with docs/examples/webhook/receiver.mjs, which verifies them with the npm package standardwebhooks.
//
//   npm --prefix docs/examples/webhook ci && npm --prefix scripts/checks/webhook test
//
// It needs Go.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { root, timeout, withBuilt, withService } from '../browser/service.mjs'

/** Starts the receiver with a secret, calls job with a function that waits for matching output, and stops the receiver. */
async function withReceiver(port, secret, job) {
  const receiver = spawn('node', [join(root, 'docs/examples/webhook/receiver.mjs')], {
    env: { ...process.env, PORT: port, WEBHOOK_SECRET: secret }, stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => receiver.once('exit', resolve))
  let printed = ''
  receiver.stdout.setEncoding('utf8').on('data', (text) => { printed += text })
  const prints = async (pattern) => {
    for (const deadline = Date.now() + timeout; !printed.match(pattern); ) {
      assert.ok(Date.now() < deadline, `the receiver has not printed ${pattern}, but: ${printed}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  try {
    await prints(/^Listening/)
    await job(prints)
  } finally {
    receiver.kill('SIGTERM')
    await ended
  }
}

/** Resolves to a free port. The webhook is created before the receiver, which needs its secret, listens. */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

await withBuilt((binary) => withService(binary, { WEBHOOK_NETWORKS: '127.0.0.0/8' }, async (service) => {
  const send = async (method, path, form, headers) => {
    const response = await fetch(service.address + path, { method, headers, body: form && new URLSearchParams(form) })
    const body = response.status === 204 ? null : await response.json()
    assert.ok(response.ok, JSON.stringify(body))
    return body
  }
  const email = 'ada@example.com', password = 'analytical engine', master = { access_token: service.masterKey }
  await send('POST', '/users', { email, password, role: 'admin', ...master })
  const { token } = await send('POST', '/auth', master, { Authorization: `Basic ${btoa(`${email}:${password}`)}` })
  const admin = { Authorization: `Bearer ${token}` }
  const port = await freePort()
  const { id, secret } = await send('POST', '/webhooks', { url: `http://127.0.0.1:${port}/`, events: 'article.*' }, admin)

  await withReceiver(port, secret, async (prints) => {
    assert.equal((await send('POST', `/webhooks/${id}/test`, null, admin)).status, 'delivered')
    await prints(/^webhook\.test \{"id"/m)
    const article = await send('POST', '/articles', { title: 'Ginseng, größer' }, admin)
    await prints(/^article\.created \{"id":.*"title":"Ginseng, größer"/m)
    await send('PATCH', `/articles/${article.id}`, { title: 'Two' }, admin)
    await prints(/^article\.updated .*"title":"Two"/m)
    await send('DELETE', `/articles/${article.id}`, null, admin)
    await prints(new RegExp(`^article\\.deleted \\{"id":"${article.id}"\\}$`, 'm'))
  })

  const renewed = (await send('POST', `/webhooks/${id}/secret`, null, admin)).secret
  for (const valid of [secret, renewed]) {
    await withReceiver(port, valid, async () => {
      assert.equal((await send('POST', `/webhooks/${id}/test`, null, admin)).status, 'delivered')
    })
  }
  await withReceiver(port, `whsec_${btoa('another secret')}`, async () => {
    const { status, responseStatus } = await send('POST', `/webhooks/${id}/test`, null, admin)
    assert.deepEqual({ status, responseStatus }, { status: 'failed', responseStatus: 400 })
  })
  console.log('the library accepts all events, the old secret too, and rejects another secret')
}))
