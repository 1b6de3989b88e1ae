// The proxies of the checks of streams, and ways to wait.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { timeout } from '../browser/service.mjs'

/** Resolves after a time in ms. */
export const pause = (time) => new Promise((resolve) => setTimeout(resolve, time))

/** Resolves to a free port: the proxies cannot choose one and print it. */
export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** Resolves when check returns true, and rejects after the limit in ms. */
export async function until(what, check, limit = timeout) {
  for (const deadline = Date.now() + limit; !(await check()); ) {
    assert.ok(Date.now() < deadline, `timeout: ${what}`)
    await pause(10)
  }
}

/** Resolves or rejects as the promise does, and rejects after the limit in ms. */
export async function inTime(what, promise, limit = timeout) {
  let settled = false
  await Promise.race([promise.finally(() => { settled = true }), until(what, () => settled, limit)])
  return promise
}

/** The commands of the proxies, with their configuration in a directory. */
export const proxies = {
  nginx(dir, port, upstream) {
    const config = join(dir, 'nginx.conf')
    writeFileSync(config, `daemon off; pid ${dir}/nginx.pid; error_log stderr;
      events {}
      http {
        access_log off;
        client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy; fastcgi_temp_path ${dir}/fastcgi; uwsgi_temp_path ${dir}/uwsgi; scgi_temp_path ${dir}/scgi;
        gzip on; gzip_types *;
        server { listen 127.0.0.1:${port}; location / { proxy_pass ${upstream}; proxy_http_version 1.1; proxy_set_header Connection ""; } }
      }`)
    return ['nginx', '-p', dir, '-c', config]
  },
  caddy(dir, port, upstream) {
    const config = join(dir, 'Caddyfile')
    writeFileSync(config, `{\n  admin off\n  grace_period 1s\n}\nhttp://127.0.0.1:${port} {\n  @others not path */changes\n  encode @others gzip\n  reverse_proxy ${upstream}\n}\n`)
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', config]
  },
}
