// Checks that streams of changes are complete while the service is killed and restarted, proxies restart, sessions end, and an
// older database is restored. Prints a table of what each client received; fails if a change is missing, doubled, out of order, or
// is of a record that the client did not ask for.
//
//   npm --prefix scripts/checks/changes run faults -- [--seconds 20] [--pocketbase BINARY]
//
// With --pocketbase it shows what PocketBase's own client receives from PocketBase under the same faults.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { EventSource } from 'eventsource'
import { createCollection } from '@tanstack/db'
import { createClient } from '../../../clients/typescript/index.js'
import { followOptions } from '../../../docs/examples/tanstack-db.mjs'
import { withBrowser } from '../browser/chromium.mjs'
import { root, withBuilt } from '../browser/service.mjs'
import { keep } from './copy.mjs'
import { freePort, inTime, pause, proxies, until } from './proxies.mjs'

const { values: options } = parseArgs({ options: { seconds: { type: 'string', default: '20' }, pocketbase: { type: 'string' } } })
const seconds = Number(options.seconds)
const patience = 60_000 // ms; the client waits for up to 30 s between two attempts
const tabs = 6 // browsers open this many connections of HTTP/1.1 to a host
const password = 'analytical engine'
const master = randomBytes(32).toString('hex')

/** Sends JSON; resolves to the response's JSON. Rejects if the response is not successful. */
async function send(method, url, body, token) {
  const response = await fetch(url, {
    method, signal: AbortSignal.timeout(5000), body: body && JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return text && JSON.parse(text)
}

/** The programs that run. After a failure they are stopped, too. */
const programs = new Set()
process.on('exit', () => programs.forEach((program) => program.process.kill()))

/** A program that serves at an address, and is restarted there. */
class Program {
  constructor(address, path, command, args, env) {
    Object.assign(this, { address, path, command, args, env, kills: 0 })
  }

  async start() {
    this.process = spawn(this.command, this.args, { ...this.env, stdio: 'ignore' })
    programs.add(this)
    this.ended = new Promise((resolve) => this.process.once('exit', resolve))
    await until(`${this.command} serves`, () => fetch(this.address + this.path).then((response) => response.status < 500, () => false))
  }

  async stop(signal = 'SIGTERM') {
    this.process.kill(signal)
    await inTime(`${this.command} ends`, this.ended)
    programs.delete(this)
  }

  async restart(signal) {
    await this.stop(signal)
    this.kills++
    await this.start()
  }
}

/** Ginseng, and the requests of this check. */
class Ginseng extends Program {
  constructor(binary, dir, port, origin) {
    mkdirSync(dir)
    super(`http://127.0.0.1:${port}`, '/livez', binary, [], { cwd: dir, env: {
      PATH: process.env.PATH, HOST: '127.0.0.1', PORT: String(port), LOG_LEVEL: 'error', DATABASE_URL: 'sqlite:data/test.db',
      MASTER_KEY: master, JWT_SECRET: master, CHANGES_USER_STREAMS: '100', CORS_ORIGINS: origin,
    } })
    this.data = join(dir, 'data')
    this.users = []
  }

  async prepare() {
    for (const name of ['ada', 'bob']) {
      const { id } = await send('POST', `${this.address}/users`, { email: `${name}@example.com`, password, access_token: master })
      this.users.push({ id, token: await this.signIn(name) })
    }
  }

  async signIn(name = 'ada') {
    const headers = { Authorization: `Basic ${btoa(`${name}@example.com:${password}`)}` }
    const response = await fetch(`${this.address}/auth`, { method: 'POST', headers, body: new URLSearchParams({ access_token: master }) })
    return (await response.json()).token
  }

  create(user, title) { return send('POST', `${this.address}/articles`, { title }, this.users[user].token) }
  update(user, id, title) { return send('PATCH', `${this.address}/articles/${id}`, { title }, this.users[user].token) }
  remove(user, id) { return send('DELETE', `${this.address}/articles/${id}`, null, this.users[user].token) }

  /** Resolves to the titles of all records, by id. */
  async list(query = {}) {
    const titles = new Map()
    for (let after = ''; ;) {
      const page = await send('GET', `${this.address}/articles?${new URLSearchParams({ limit: 100, sort: 'createdAt', ...query, ...(after && { after }) })}`)
      for (const { id, title } of page.rows) titles.set(id, title)
      if (!page.next) return titles
      after = page.next
    }
  }
}

/** PocketBase, with a collection that everyone may read and write. */
class PocketBase extends Program {
  constructor(binary, dir, port) {
    mkdirSync(dir)
    super(`http://127.0.0.1:${port}`, '/api/health', binary, ['serve', '--http', `127.0.0.1:${port}`, '--dir', join(dir, 'data')], {})
    this.data = join(dir, 'data')
  }

  async prepare() {
    const identity = 'root@example.com'
    spawnSync(this.command, ['superuser', 'upsert', identity, password, '--dir', this.data])
    const { token } = await send('POST', `${this.address}/api/collections/_superusers/auth-with-password`, { identity, password })
    const rules = Object.fromEntries(['list', 'view', 'create', 'update', 'delete'].map((name) => [`${name}Rule`, '']))
    await send('POST', `${this.address}/api/collections`, { name: 'articles', type: 'base', fields: [{ name: 'title', type: 'text' }], ...rules }, token)
  }

  #url(id = '') { return `${this.address}/api/collections/articles/records${id && `/${id}`}` }
  create(user, title) { return send('POST', this.#url(), { title }) }
  update(user, id, title) { return send('PATCH', this.#url(id), { title }) }
  remove(user, id) { return send('DELETE', this.#url(id)) }

  async list() {
    const titles = new Map()
    for (let page = 1; ; page++) {
      const { items, totalPages } = await send('GET', `${this.#url()}?perPage=500&page=${page}`)
      for (const { id, title } of items) titles.set(id, title)
      if (page >= totalPages) return titles
    }
  }
}

const DELETED = Infinity
const versionOf = (title) => Number(title.split(' ')[1])

/** What a client receives. */
class Receiver {
  versions = new Map() // the newest received, by id
  copy = new Map() // titles by id
  seen = new Set() // the positions of one connection
  events = 0
  doubled = 0
  disordered = 0
  resyncs = 0
  lists = 0

  constructor(name, wanted = () => true) { Object.assign(this, { name, wanted }) }

  connected() { this.seen.clear() }

  receive(event, position, { id, title }) {
    const version = event === 'deleted' ? DELETED : versionOf(title)
    this.events++
    if (this.seen.has(position)) this.doubled++
    this.seen.add(position)
    if (version < (this.versions.get(id) ?? 0)) this.disordered++
    this.versions.set(id, version)
    if (event === 'deleted') this.copy.delete(id)
    else this.copy.set(id, title)
  }

  /** The row of the table. changes are the acknowledged ones. */
  row(changes, list) {
    const wanted = changes.filter(this.wanted)
    const missing = wanted.filter(({ id, version }) => !((this.versions.get(id) ?? 0) >= version)).length
    const ids = new Set(wanted.map(({ id }) => id))
    const leaked = [...this.versions.keys()].filter((id) => changes.some((c) => c.id === id) && !ids.has(id)).length
    return { client: this.name, changes: wanted.length, events: this.events, missing, doubled: this.doubled, 'out of order': this.disordered, leaked, 'wrong in the copy': differences(this.copy, list) }
  }
}

/** Reads a stream with the npm package eventsource. A response such as 502 of a proxy ends it, as in a browser: it begins again. */
class Source {
  #position = ''
  #source

  constructor(receiver, address, query, token) {
    Object.assign(this, { receiver, address, query, token })
    this.connect()
  }

  connect() {
    const query = new URLSearchParams({ ...this.query, ...(this.#position && { after: this.#position }) })
    const headers = this.token && { Authorization: `Bearer ${this.token.value}` }
    const source = new EventSource(`${this.address}/articles/changes?${query}`, { fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }) })
    this.#source = source
    source.onopen = () => this.receiver.connected()
    for (const name of ['ready', 'created', 'updated', 'deleted', 'resync', 'end']) source.addEventListener(name, (event) => this.#take(name, event))
    source.onerror = () => { if (source.readyState === EventSource.CLOSED) this.#again() }
  }

  async #take(name, { data, lastEventId }) {
    if (name === 'end') {
      this.#source.close()
      return this.#again()
    }
    this.#position = lastEventId
    this.ready = true
    if (name === 'resync') this.receiver.resyncs++
    else if (name !== 'ready') this.receiver.receive(name, lastEventId, JSON.parse(data))
  }

  async #again() {
    await pause(200)
    if (this.stopped) return
    await this.token?.renew()
    this.connect()
  }

  stop() {
    this.stopped = true
    this.#source.close()
  }
}

/** Changes records until done() is true; resolves to the acknowledged changes. */
async function write(server, user, done) {
  const changes = [], alive = new Map()
  for (let n = 1; !done(); n++) {
    const [id, version] = [...alive].at(n % 7) ?? []
    try {
      if (!id || n % 2 === 0) {
        const record = await server.create(user, `${user}-${n} 1`)
        alive.set(record.id, 1)
        changes.push({ id: record.id, version: 1, user })
      } else {
        alive.delete(id) // if the request fails, nobody knows whether the change was made
        if (n % 3 === 0) await server.remove(user, id)
        else {
          await server.update(user, id, `${user}-${n} ${version + 1}`)
          alive.set(id, version + 1)
        }
        changes.push({ id, version: n % 3 === 0 ? DELETED : version + 1, user })
      }
    } catch {
      await pause(50)
    }
    await pause(10)
  }
  return changes
}

/** Causes the faults while two users write; resolves to the acknowledged changes. */
async function suffer(server, running, endSession) {
  let done = false
  const writers = [0, 1].map((user) => write(server, user, () => done))
  const end = Date.now() + 1000 * seconds
  for (let n = 1; Date.now() < end; n++) {
    await pause(1500)
    await server.restart('SIGKILL')
    if (n % 2 === 0) for (const proxy of running) await proxy.restart('SIGTERM')
    if (n % 3 === 0) await endSession?.()
  }
  done = true
  return (await Promise.all(writers)).flat()
}

/** Makes changes that the clients receive, restores the database of before them, and makes others. */
async function restore(server, receivers) {
  await server.stop()
  cpSync(server.data, `${server.data}.backup`, { recursive: true })
  await server.start()
  let lost
  for (let n = 0; n < 20; n++) lost = await server.create(0, `lost-${n} 1`)
  await until('all clients receive the changes that will be lost', () => receivers.every((r) => r.versions.has(lost.id)), patience).catch(report)
  await server.stop()
  rmSync(server.data, { recursive: true })
  cpSync(`${server.data}.backup`, server.data, { recursive: true })
  await server.start()
  for (let n = 0; n < 20; n++) await server.create(0, `after-${n} 1`)
}

const report = (error) => console.log(error.message)

/** The number of records that differ. */
const differences = (copy, list) => [...new Set([...list.keys(), ...copy.keys()])].filter((id) => list.get(id) !== copy.get(id)).length

async function startProxies(dir, upstream) {
  const running = []
  for (const name of Object.keys(proxies)) {
    const port = await freePort(), home = join(dir, `${name}-${port}`)
    mkdirSync(home)
    const [command, ...args] = proxies[name](home, port, upstream)
    const proxy = new Program(`http://127.0.0.1:${port}`, '/', command, args, { env: { ...process.env, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home } })
    await proxy.start()
    running.push(proxy)
  }
  return running
}

/** Serves the client, copy.mjs and an empty page. */
function servePage() {
  const files = { '/index.js': join(root, 'clients/typescript/index.js'), '/copy.mjs': fileURLToPath(new URL('copy.mjs', import.meta.url)) }
  const page = createServer(({ url }, response) => {
    response.setHeader('Content-Type', files[url] ? 'text/javascript' : 'text/html')
    response.end(files[url] ? readFileSync(files[url]) : '<!doctype html><title>changes</title>')
  }).listen(0, '127.0.0.1')
  return new Promise((resolve) => page.once('listening', () => resolve([page, `http://127.0.0.1:${page.address().port}`])))
}

/**
 * Notes in a receiver what a copy reports. The client does not show positions: a record that is created or deleted twice is doubled, but two updates
 * can have the same data, the newest.
 */
function note(receiver, event, data) {
  if (event !== 'loaded') return receiver.receive(event, event === 'updated' ? receiver.events : `${event} ${data.id}`, data)
  receiver.connected()
  receiver.lists++
}

/** A copy in this process. */
class NodeCopy {
  titles = new Map()
  stop = new AbortController()

  constructor(name, options) {
    this.receiver = new Receiver(name)
    this.followed = keep(createClient(options), this.titles, (event, data) => note(this.receiver, event, data), this.stop.signal)
  }

  list() { return this.titles }

  async close() {
    this.stop.abort()
    await inTime('follow ends', this.followed)
  }
}

/** A collection of TanStack DB in this process. */
class Collection {
  constructor(name, options) {
    const receiver = this.receiver = new Receiver(name)
    const { articles } = createClient(options)
    this.collection = createCollection(followOptions({
      all(filters) {
        receiver.lists++
        return articles.all(filters)
      },
      follow: ({ onChange, ...options }) => articles.follow({
        ...options,
        onChange({ event, data }) {
          note(receiver, event, data)
          onChange({ event, data })
        },
      }),
    }))
    this.collection.startSyncImmediate()
  }

  list() { return new Map(this.collection.toArray.map(({ id, title }) => [id, title])) }

  close() { return this.collection.cleanup() }
}

/** A copy in a tab of Chromium. */
class Tab {
  streams = new Set() // the open requests of streams

  static async open(browser, name, origin, address) {
    const tab = new Tab()
    tab.receiver = new Receiver(name)
    tab.page = await browser.newPage()
    tab.page.on('request', (request) => { if (request.headers().accept === 'text/event-stream') tab.streams.add(request) })
    for (const event of ['requestfinished', 'requestfailed']) tab.page.on(event, (request) => tab.streams.delete(request))
    await tab.page.goto(origin)
    await tab.page.exposeFunction('note', (event, data) => note(tab.receiver, event, data))
    await tab.page.evaluate(async (url) => {
      const [{ createClient }, { keep }] = await Promise.all([import('/index.js'), import('/copy.mjs')])
      window.titles = new Map()
      window.stop = new AbortController()
      window.followed = keep(createClient({ url }), window.titles, window.note, window.stop.signal)
    }, address)
    return tab
  }

  async list() { return new Map(await this.page.evaluate(() => [...window.titles])) }

  async close() {
    await this.page.evaluate(async () => {
      window.stop.abort()
      await window.followed
    })
    await this.page.close()
  }
}

async function checkGinseng(binary, dir) {
  const [page, origin] = await servePage()
  const server = new Ginseng(binary, join(dir, 'ginseng'), await freePort(), origin)
  await server.start()
  await server.prepare()
  const [nginx, caddy] = await startProxies(dir, server.address)
  const token = { value: await server.signIn(), renew: async () => { token.value = await server.signIn().catch(() => token.value) } }
  const sources = [
    new Source(new Receiver('eventsource'), server.address, {}),
    new Source(new Receiver('eventsource, nginx, one user', ({ user }) => user === 0), nginx.address, { userId: server.users[0].id }),
    new Source(new Receiver('eventsource, Caddy, its sessions end'), caddy.address, {}, token),
  ]
  let session = await server.signIn()
  const copies = [
    new NodeCopy('client in Node.js, Caddy', { url: caddy.address }),
    new NodeCopy('client in Node.js, nginx, its sessions end', { url: nginx.address, token: async () => (session ??= await server.signIn()) }),
    new Collection('client in Node.js, Caddy, TanStack DB', { url: caddy.address }),
  ]
  await withBrowser(dir, async (browser) => {
    const closing = [] // tabs that end while they stream for the others
    for (let n = 0; n < 2; n++) closing.push(await Tab.open(browser, `tab ${n}`, origin, nginx.address))
    for (let n = 0; n < tabs; n++) copies.push(await Tab.open(browser, `client in Chromium, nginx, tab ${n + 1}`, origin, nginx.address))
    const streams = () => [...closing, ...copies].reduce((sum, { streams }) => sum + (streams?.size ?? 0), 0)
    await until('all clients are connected', () => sources.every(({ ready }) => ready) && [...closing, ...copies].every(({ receiver }) => receiver.lists > 0))
    assert.equal(streams(), 1, 'streams of all tabs')

    const endSession = async () => {
      await send('DELETE', `${server.address}/auth`, null, token.value)
      await send('DELETE', `${server.address}/auth`, null, session)
      session = undefined
      await closing.shift()?.page.close()
    }
    const changes = await suffer(server, [nginx, caddy], endSession)
    for (const tab of closing.splice(0)) await tab.page.close()
    const last = await server.create(0, 'last 1')
    changes.push({ id: last.id, version: 1, user: 0 })
    const receivers = [...sources, ...copies].map(({ receiver }) => receiver)
    await until('all clients receive the last change', () => receivers.every((r) => r.versions.has(last.id)), patience).catch(report)
    const all = await server.list(), own = await server.list({ userId: server.users[0].id })
    const rows = receivers.map((r) => r.row(changes, r.name.endsWith('one user') ? own : all))
    for (const [i, c] of copies.entries()) {
      rows[sources.length + i]['wrong in the copy'] = differences(await c.list(), all)
      rows[sources.length + i].lists = c.receiver.lists
    }
    assert.equal(streams(), 1, 'streams of all tabs')

    await restore(server, receivers)
    await until('all clients receive a resync', () => receivers.every((r) => r.resyncs > 0 || r.lists > 1), patience).catch(report)
    for (const [i, r] of receivers.entries()) rows[i]['resyncs after a restore'] = r.resyncs || r.lists - 1
    for (const [i, c] of copies.entries()) {
      const list = await server.list()
      await until('the copy is right after the restore', async () => differences(await c.list(), list) === 0, patience).catch(report)
      rows[sources.length + i]['wrong after a restore'] = differences(await c.list(), list)
    }
    console.log(`Ginseng: killed ${server.kills} times with SIGKILL, each proxy restarted ${nginx.kills} times`)
    console.table(rows)
    for (const row of rows) {
      assert.deepEqual([row.missing, row.doubled, row['out of order'], row.leaked, row['wrong in the copy'], row['wrong after a restore'] ?? 0], [0, 0, 0, 0, 0, 0], row.client)
      assert.equal(row.lists ?? 1, 1, `${row.client}: lists before the restore`)
      assert.ok(row['resyncs after a restore'] > 0, row.client)
    }
    for (const copy of copies) await copy.close()
  })
  for (const source of sources) source.stop()
  page.close()
  for (const program of [nginx, caddy, server]) await program.stop()
}

async function checkPocketBase(binary, dir) {
  globalThis.EventSource = EventSource
  const { default: Client } = await import('pocketbase')
  const server = new PocketBase(binary, join(dir, 'pocketbase'), await freePort())
  await server.start()
  await server.prepare()
  const running = await startProxies(dir, server.address)
  const addresses = { 'pocketbase': server.address, 'pocketbase, nginx': running[0].address, 'pocketbase, Caddy': running[1].address }
  const clients = [], receivers = []
  for (const [name, address] of Object.entries(addresses)) {
    const receiver = new Receiver(name), client = new Client(address)
    client.realtime.subscribe('PB_CONNECT', () => receiver.connected())
    const names = { create: 'created', update: 'updated', delete: 'deleted' }
    await client.collection('articles').subscribe('*', ({ action, record }) => receiver.receive(names[action], `${record.id} ${action} ${record.title}`, record))
    clients.push(client)
    receivers.push(receiver)
  }
  const changes = await suffer(server, running)
  await pause(15_000) // the clients connect again
  const last = await server.create(0, 'last 1')
  changes.push({ id: last.id, version: 1, user: 0 })
  await until('all clients receive the last change', () => receivers.every((r) => r.versions.has(last.id)), patience).catch(report)
  const list = await server.list()
  const rows = receivers.map((r) => r.row(changes, list))
  await restore(server, receivers)
  await pause(15_000)
  for (const [i, r] of receivers.entries()) rows[i]['wrong after a restore'] = differences(r.copy, await server.list())
  console.log(`PocketBase: killed ${server.kills} times with SIGKILL, each proxy restarted ${running[0].kills} times`)
  console.table(rows)
  for (const client of clients) client.realtime.unsubscribe()
  for (const program of [...running, server]) await program.stop()
}

await withBuilt(async (binary, dir) => {
  await checkGinseng(binary, dir)
  if (options.pocketbase) await checkPocketBase(options.pocketbase, dir)
})
process.exit()
