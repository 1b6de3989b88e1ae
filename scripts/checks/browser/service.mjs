// Builds the service and starts it with an empty database, for the tests in scripts/checks/browser and scripts/checks/client.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The directory of the project. */
export const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The timeout of all waits, in ms. */
export const timeout = 20_000

/** Builds the service of a project into a new directory, calls job with its path and the directory, and then deletes the directory. */
export async function withBuilt(job, project = root) {
  const dir = mkdtempSync(join(tmpdir(), 'service-'))
  try {
    const binary = join(dir, 'service')
    const build = spawnSync('go', ['build', '-o', binary, '.'], { cwd: project, stdio: 'inherit' })
    assert.equal(build.status, 0, 'go build')
    await job(binary, dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * Starts the service, calls job, and stops the service. Resolves to what job does. The job gets the address, the master key, said: a function
 * that waits for matching output of the service, after a number of characters, and resolves to it, and printed: a function that
 * returns all output. The output is printed if the job fails.
 */
export async function withService(binary, settings, job) {
  const dir = mkdtempSync(join(tmpdir(), 'data-')) // without a .env
  const masterKey = randomBytes(32).toString('hex')
  const service = spawn(binary, {
    cwd: dir,
    env: {
      PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', DATABASE_URL: 'sqlite:test.db',
      MASTER_KEY: masterKey, JWT_SECRET: randomBytes(32).toString('hex'), ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => service.once('exit', resolve))
  let printed = ''
  const looking = new Set()
  for (const stream of [service.stdout, service.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text
      for (const look of looking) look()
    })
  }
  const said = (pattern, after = 0) => new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the service has not printed ${pattern}`)), timeout)
    const look = () => {
      const match = printed.slice(after).match(pattern)
      if (!match) return
      clearTimeout(late)
      looking.delete(look)
      resolve(match)
    }
    looking.add(look)
    look()
    ended.then(() => { // no effect on a settled promise
      clearTimeout(late)
      reject(new Error(`the service exited without printing ${pattern}`))
    })
  })
  try {
    const [, address] = await said(/^Server listening on (http:\/\/[^,]+),/m)
    return await job({ address, masterKey, said, printed: () => printed })
  } catch (error) {
    console.error(printed)
    throw error
  } finally {
    service.kill('SIGTERM')
    await ended
    rmSync(dir, { recursive: true, force: true })
  }
}
