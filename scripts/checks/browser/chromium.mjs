// Starts a Chromium: the one that CHROMIUM names, or the first found in PATH.

import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'
import { timeout } from './service.mjs'

/** Finds the browser. */
function findChromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    for (const dir of process.env.PATH.split(delimiter)) {
      if (existsSync(join(dir, name))) return join(dir, name)
    }
  }
  throw new Error('no Chromium found; install one, or set CHROMIUM to its path')
}

/** Starts a browser with a profile in the directory and more arguments, calls job with it, and closes it. */
export async function withBrowser(dir, job, args = []) {
  const browser = await chromium.launchPersistentContext(join(dir, 'profile'), {
    executablePath: findChromium(),
    viewport: { width: 1280, height: 1600 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', ...args],
  })
  try {
    browser.setDefaultTimeout(timeout)
    await job(browser)
  } finally {
    await browser.close()
  }
}
