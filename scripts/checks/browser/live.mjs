// The browser test of docs/examples/live and of the client in several tabs: the page shows each change, all tabs have one stream, and
// one of them refreshes the session.
//
//   npm --prefix scripts/checks/browser ci && npm --prefix scripts/checks/browser run live

import assert from 'node:assert/strict'
import { createClient } from '../../../clients/typescript/index.js'
import { withBrowser } from './chromium.mjs'
import { watch, withPage } from './page.mjs'
import { withBuilt, withService } from './service.mjs'

const number = 6 // of tabs: a browser opens six connections of HTTP/1.1 to a host

/** Opens the page in tabs; resolves to the tabs, the requests of the API, and the faults. */
async function open(browser, url, address) {
  const requests = [], faults = []
  const tabs = await Promise.all(Array.from({ length: number }, async () => {
    const tab = await browser.newPage()
    faults.push(watch(tab, [new URL(url).origin, address]))
    tab.on('request', (request) => requests.push(request))
    await tab.goto(url)
    return tab
  }))
  const streams = () => requests.filter((request) => request.headers().accept === 'text/event-stream').length
  return { tabs, requests, streams, faults: () => faults.flat() }
}

async function changes(tabs, api) {
  const see = (text) => Promise.all(tabs.map((tab) => tab.getByText(text, { exact: true }).waitFor()))
  await see('0 articles')
  const article = await api.articles.create({ title: 'A <b>title</b>' })
  await Promise.all([see('1 articles'), see('A <b>title</b>')])
  await api.articles.update(article, { title: 'Another title' })
  await see('Another title')
  await tabs.shift().close() // the first one, which streams for all
  await api.articles.delete(article.id)
  await see('0 articles')
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
      const { tabs, requests, streams, faults } = await open(browser, url, service.address)
      await changes(tabs, api)
      assert.equal(streams(), 2, 'one stream, and another one after its tab was closed')
      await sessions(tabs, requests, service.address)
      assert.deepEqual(faults(), [])
    })
  })))
console.log(`live.mjs: ${number} tabs, one stream, one refresh`)
