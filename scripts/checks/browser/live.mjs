// The browser test of docs/examples/live and of the client in several tabs: the page shows each change, all tabs have one stream, also after
// the tab that streams is closed or suspended, and one of them refreshes the session.
//
//   npm --prefix scripts/checks/browser ci && npm --prefix scripts/checks/browser run live

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../../../clients/typescript/index.js'
import { withBrowser } from './chromium.mjs'
import { watch, withPage } from './page.mjs'
import { withBuilt, withService } from './service.mjs'

const number = 6 // of tabs: a browser opens six connections of HTTP/1.1 to a host

/** Opens the page in tabs; resolves to the tabs, the requests of the API, a function that returns the tab of each stream, and the faults. */
async function open(browser, url, address) {
  const requests = [], faults = []
  const tabs = await Promise.all(Array.from({ length: number }, async () => {
    const tab = await browser.newPage()
    faults.push(watch(tab, [new URL(url).origin, address]))
    tab.on('request', (request) => requests.push(request))
    await tab.goto(url)
    return tab
  }))
  const streams = () => requests.filter((request) => request.headers().accept === 'text/event-stream').map((request) => request.frame().page())
  return { tabs, requests, streams, faults: () => faults.flat() }
}

const see = (tabs, text) => Promise.all(tabs.map((tab) => tab.getByText(text, { exact: true }).waitFor()))

/** Removes the tab that streams from the tabs. */
function takeLeader(tabs, streams) {
  const [leader] = tabs.splice(tabs.indexOf(streams().at(-1)), 1)
  return leader
}

async function changes(tabs, streams, api) {
  await see(tabs, '0 articles')
  const article = await api.articles.create({ title: 'A <b>title</b>' })
  await Promise.all([see(tabs, '1 articles'), see(tabs, 'A <b>title</b>')])
  await api.articles.update(article, { title: 'Another title' })
  await see(tabs, 'Another title')
  assert.equal(streams().length, 1)
  await takeLeader(tabs, streams).close()
  await api.articles.delete(article.id)
  await see(tabs, '0 articles')
  assert.equal(streams().length, 2)
}

/** Suspends the tab that streams. Another one takes over, and goes on when the first one runs again. */
async function suspended(browser, tabs, streams, api) {
  const leader = takeLeader(tabs, streams)
  const cdp = await browser.newCDPSession(leader)
  await cdp.send('Debugger.enable')
  await cdp.send('Debugger.pause') // the state frozen has no effect on a browser without a window
  await api.articles.create({ title: 'Suspended' })
  await see(tabs, 'Suspended')
  assert.equal(streams().length, 3)
  assert.equal(tabs.includes(streams()[2]), true)
  await cdp.send('Debugger.resume')
  tabs.push(leader)
  const { id } = await api.articles.create({ title: 'Active' })
  await see(tabs, 'Active')
  await api.articles.delete(id)
  await see(tabs, '1 articles')
  assert.equal(streams().length, 3)
}

/** Lets tabs look for one that is suspended each 2 seconds, and not each 20. */
function lookOften(dir) {
  const file = join(dir, 'clients/typescript/index.js')
  const code = readFileSync(file, 'utf8')
  const faster = code.replace('const CHECK = 20_000', 'const CHECK = 2_000')
  assert.notEqual(code, faster)
  writeFileSync(file, faster)
}

/** Signs in in one tab, and calls the API in all of them with an expired token. */
async function sessions(tabs, requests, address) {
  const start = (tab, job) => tab.evaluate(`(async () => {
    const { createClient } = await import('/client/index.js')
    const api = createClient({ url: '${address}', storage: localStorage })
    ${job}
  })()`)
  await start(tabs[0], `await api.session.signIn({ email: 'ada@example.com', password: 'analytical engine' })
    const [key] = Object.keys(localStorage)
    localStorage.setItem(key, JSON.stringify({ ...JSON.parse(localStorage.getItem(key)), refreshAt: 1 }))`)
  const before = requests.length
  const names = await Promise.all(tabs.map((tab) => start(tab, `return (await api.request('GET', '/users/me')).name`)))
  assert.deepEqual(names, tabs.map(() => 'ada'))
  const refreshes = requests.slice(before).filter((request) => request.method() === 'POST' && request.url().endsWith('/auth/refresh'))
  assert.equal(refreshes.length, 1)
}

await withBuilt((binary, dir) => withBrowser(dir, (browser) =>
  withService(binary, { APP_ENV: 'development', PUBLIC_SIGNUP: 'true' }, async (service) => {
    const api = createClient({ url: service.address })
    await api.session.signUp({ email: 'ada@example.com', password: 'analytical engine' })
    await withPage('live', dir, service.address, async (url) => {
      lookOften(dir)
      const { tabs, requests, streams, faults } = await open(browser, url, service.address)
      await changes(tabs, streams, api)
      await suspended(browser, tabs, streams, api)
      await sessions(tabs, requests, service.address)
      assert.deepEqual(faults(), [])
    })
  })))
console.log(`live.mjs: ${number} tabs, one stream, one refresh`)
