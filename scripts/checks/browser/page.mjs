// Serves the pages of docs/examples, and records what goes wrong in them.

import { spawn } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, timeout } from './service.mjs'

/** Starts a program, calls job with the first match in its output, and stops the program. */
export async function withProgram(command, args, pattern, job) {
  const program = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => program.once('exit', resolve))
  try {
    const match = await new Promise((resolve, reject) => {
      let printed = ''
      setTimeout(() => reject(new Error(`${command} has not printed ${pattern}: ${printed}`)), timeout).unref()
      program.once('error', reject)
      program.stdout.setEncoding('utf8').on('data', (text) => {
        printed += text
        if (pattern.test(printed)) resolve(printed.match(pattern))
      })
    })
    await job(match)
  } finally {
    program.kill('SIGTERM')
    await ended
  }
}

/** Serves a copy of a page of docs/examples that calls the API at the address, and calls job with the URL of the page. */
export async function withPage(name, dir, address, job) {
  const copy = join(dir, 'docs', 'examples')
  for (const name of ['docs/examples', 'clients']) cpSync(join(root, name), join(dir, name), { recursive: true })
  const index = join(copy, name, 'index.html')
  writeFileSync(index, readFileSync(index, 'utf8').replaceAll('http://localhost:9000', address))
  await withProgram(process.execPath, [join(copy, 'serve.mjs'), '0'], /http:\S+/, ([url]) => job(new URL(`/${name}/`, url).href))
}

/** Records errors of a page, and its requests to other addresses. */
export function watch(page, addresses) {
  const faults = []
  page.on('request', (request) => {
    const url = request.url()
    if (!/^data:/.test(url) && !addresses.some((address) => url.startsWith(address))) faults.push(`a request to another address: ${url}`)
  })
  page.on('requestfailed', (request) => {
    const text = request.failure()?.errorText
    if (text !== 'net::ERR_ABORTED') faults.push(`failed: ${request.url()} ${text}`) // Chromium also reports 204 as aborted
  })
  page.on('console', (message) => {
    const problem = /^Failed to load resource: the server responded with a status of 4/.test(message.text()) // the browser logs each
    if (message.type() === 'error' && !problem) faults.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`error in the page: ${error.message}`))
  return faults
}
