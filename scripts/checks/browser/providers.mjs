// Builds and starts the fake providers of scripts/checks/providers.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { withProgram } from './page.mjs'
import { root } from './service.mjs'

/** Starts the fake providers, and calls job with their settings. */
export async function withProviders(dir, job) {
  const binary = join(dir, 'providers')
  assert.equal(spawnSync('go', ['build', '-o', binary, './providers'], { cwd: join(root, 'scripts', 'checks'), stdio: 'inherit' }).status, 0, 'go build')
  await withProgram(binary, ['-port', '0'], /^[^]*and open /, ([printed]) =>
    job(Object.fromEntries([...printed.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]))))
}
