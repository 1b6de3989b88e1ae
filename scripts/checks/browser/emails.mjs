// The browser test of the emails: builds the service, and opens each email of /dev/emails at 600 and at 375 px. An email must
// not be wider than the window, must load nothing, and must have dark text on a light background, and each of its links
// also as text. Screenshots are saved in tmp/emails.
//
//   npm --prefix scripts/checks/browser ci && npm --prefix scripts/checks/browser run emails

import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { withBrowser } from './chromium.mjs'
import { root, withBuilt, withService } from './service.mjs'

const pictures = join(root, 'tmp', 'emails')

/** Runs in the page: returns the faults of an email. */
function inspect() {
  const faults = []
  const width = document.documentElement.clientWidth
  for (const element of document.querySelectorAll('body *')) {
    const box = element.getBoundingClientRect()
    if (box.right > width + 0.5 || box.left < 0) faults.push(`${element.tagName} reaches from ${box.left} to ${box.right} of ${width} px`)
  }
  if (document.documentElement.scrollWidth > width) faults.push(`the page is ${document.documentElement.scrollWidth} px wide`)
  for (const text of document.querySelectorAll('p')) {
    const shades = getComputedStyle(text).color.match(/\d+/g).map(Number)
    if (Math.max(...shades) > 96) faults.push(`a text has the color ${shades}`)
  }
  const targets = new Set([...document.links].map((link) => link.getAttribute('href')))
  for (const target of targets) {
    if (!document.body.innerText.includes(target)) faults.push(`the link to ${target} is not in the text`)
  }
  if (document.querySelector('img, link, script, style, iframe')) faults.push('an element that email programs block')
  return faults
}

await withBuilt((binary, dir) => withBrowser(dir, (browser) => withService(binary, { APP_ENV: 'development' }, async ({ address }) => {
  rmSync(pictures, { recursive: true, force: true })
  mkdirSync(pictures, { recursive: true })
  const page = await browser.newPage()
  const requests = []
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(`${address}/dev/emails`)
  const names = await page.locator('a[href$=".html"]').evaluateAll((links) => links.map((link) => link.href))
  assert.ok(names.length > 0, 'no emails')
  for (const url of names) {
    const name = url.match(/([^/]+)\.html$/)[1]
    for (const width of [600, 375]) {
      await page.setViewportSize({ width, height: 700 })
      requests.length = 0
      await page.goto(url)
      await page.screenshot({ path: join(pictures, `${name}-${width}.png`), fullPage: true })
      assert.deepEqual(await page.evaluate(inspect), [], `${name} at ${width} px`)
      assert.deepEqual(requests.filter((r) => r !== url && !r.endsWith('/favicon.ico')), [], `${name} loads`)
    }
    const text = await (await fetch(url.replace(/html$/, 'txt'))).text()
    assert.match(text, /^To: \S+@\S+\nSubject: .+\n\nHello/, name)
    assert.doesNotMatch(text, /\{\w+\}/, name)
  }
  console.log(`${names.length} emails fit into 600 and 375 px: ${pictures}`)
})))
