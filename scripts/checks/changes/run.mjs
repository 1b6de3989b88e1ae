// Reads streams of changes with curl, the npm package eventsource and the client of clients/typescript: directly, and behind nginx and
// Caddy, if these are installed.
//
//   npm --prefix scripts/checks/changes ci && npm --prefix scripts/checks/changes test
//
// It needs Go and curl.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { EventSource } from 'eventsource'
import { createClient } from '../../../clients/typescript/index.js'
import { withBuilt, withService } from '../browser/service.mjs'
import { keep } from './copy.mjs'
import { freePort, inTime, proxies, until } from './proxies.mjs'

/** Starts a proxy, calls job with its address, and stops it. */
async function withProxy(name, dir, upstream, job) {
  if (spawnSync(name, [name === 'nginx' ? '-v' : 'version']).error) {
    console.log(`*** NOT TESTED behind ${name}: it is not installed`)
    return
  }
  const port = await freePort()
  const home = join(dir, name)
  mkdirSync(home)
  const [command, ...args] = proxies[name](home, port, upstream)
  const proxy = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home } })
  let printed = ''
  proxy.stderr.setEncoding('utf8').on('data', (text) => { printed += text })
  const ended = new Promise((resolve) => proxy.once('exit', resolve))
  try {
    const address = `http://127.0.0.1:${port}`
    await until(`${name} serves`, () => fetch(`${address}/livez`).then((response) => response.ok, () => false))
    await job(address)
  } catch (error) {
    console.error(printed)
    throw error
  } finally {
    proxy.kill('SIGTERM')
    await inTime(`${name} ends`, ended)
  }
}

/** Reads changes at an address with each client, while create creates an article. */
async function check(name, address, create, token) {
  const headers = { Authorization: `Bearer ${token}` }
  const events = []
  const source = new EventSource(`${address}/articles/changes`, { fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }) })
  for (const type of ['ready', 'created']) source.addEventListener(type, (event) => events.push([type, JSON.parse(event.data).title, event.lastEventId]))
  const curl = spawn('curl', ['-sN', '--compressed', '-H', 'Accept: text/event-stream', `${address}/articles/changes`])
  let output = ''
  curl.stdout.setEncoding('utf8').on('data', (text) => { output += text })
  const stop = new AbortController()
  const titles = new Map()
  let loaded = false
  const followed = keep(createClient({ url: address, token }), titles, () => { loaded = true }, stop.signal)
  try {
    await until(`${name}: the clients are connected`, () => events.length > 0 && output.includes('event: ready') && loaded)
    const begun = performance.now()
    const { id } = await create(`behind ${name}`)
    await until(`${name}: eventsource receives the event`, () => events.some(([type, title]) => type === 'created' && title === `behind ${name}`))
    console.log(`${name}: ${Math.round(performance.now() - begun)} ms from the request to the event`)
    await until(`${name}: curl receives the event`, () => output.includes(`"title":"behind ${name}"`))
    await until(`${name}: the copy has the article`, () => titles.has(id))
    assert.ok(events.at(-1)[2], 'an event has an id')
  } finally {
    source.close()
    curl.kill()
    if (name === 'direct') gc() // it must not end the effect of the signal
    stop.abort()
    await inTime(`${name}: follow ends`, followed)
  }
}

await withBuilt((binary, dir) => withService(binary, { CHANGES_USER_STREAMS: '20' }, async (service) => {
  const post = async (path, form, headers) => {
    const response = await fetch(service.address + path, { method: 'POST', headers, body: new URLSearchParams(form) })
    const body = await response.json()
    assert.ok(response.ok, JSON.stringify(body))
    return body
  }
  const email = 'ada@example.com', password = 'analytical engine', master = { access_token: service.masterKey }
  await post('/users', { email, password, ...master })
  const { token } = await post('/auth', master, { Authorization: `Basic ${btoa(`${email}:${password}`)}` })
  const create = (title) => post('/articles', { title }, { Authorization: `Bearer ${token}` })
  await check('direct', service.address, create, token)
  for (const name of Object.keys(proxies)) {
    await withProxy(name, dir, service.address, (address) => check(name, address, create, token))
  }
}))
