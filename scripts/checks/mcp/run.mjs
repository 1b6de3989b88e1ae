// Tests the MCP server: with the official conformance tests, and with a client of the official SDK.
//
//   npm --prefix scripts/checks/mcp ci && npm --prefix scripts/checks/mcp test
//
// It needs Go. The conformance tests need a newer Node.js than Debian has, so it is one of the packages.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withBuilt, withService } from '../browser/service.mjs'
import { run } from './client.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))

/** Starts a proxy that adds an API key: the conformance tests have none. set sets the address of the service and the key. */
async function startProxy() {
  let service, key
  const proxy = createServer((incoming, response) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` }
    const outgoing = request(service + incoming.url, { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers)
      answer.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    incoming.pipe(outgoing)
  })
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return { proxy, address: `http://localhost:${proxy.address().port}`, set: (address, secret) => { service = address; key = secret } }
}

await withBuilt(async (binary, dir) => {
  const { proxy, address, set } = await startProxy()
  try {
    await withService(binary, { CORS_ORIGINS: address }, async (service) => {
      const key = await run(service)
      set(service.address, key)
      const args = ['server', '--url', `${address}/mcp`, '--expected-failures', join(here, 'not-applicable.yaml')]
      const tests = spawn(join(here, 'node_modules', '.bin', 'conformance'), args, { cwd: dir, stdio: ['ignore', 'inherit', 'inherit'] })
      assert.equal(await new Promise((resolve) => tests.once('exit', resolve)), 0, 'conformance')
    })
  } finally {
    proxy.close()
  }
})
