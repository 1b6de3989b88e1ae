// Checks docs/openapi.json and the guides with a TypeScript compiler and a running service: generates the types from the
// document, extracts the code of docs/client.md and docs/examples, type-checks it with the programs in this directory,
// and runs these against the service.
//
//   npm --prefix scripts/checks/client ci && npm --prefix scripts/checks/client test
//
// It needs Go.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root, withBuilt, withService } from '../browser/service.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const guide = join(here, 'guide')
const build = join(here, 'build')

/** Runs a program of node_modules. */
function tool(name, ...args) {
  const done = spawnSync(join(here, 'node_modules', '.bin', name), args, { cwd: here, stdio: 'inherit' })
  assert.equal(done.status, 0, name)
}

/** Saves the code blocks of a guide whose first line is a comment with a file name. */
function takeOut(file, pattern) {
  const blocks = readFileSync(join(root, 'docs', file), 'utf8').matchAll(/^```(?:js|ts)\n(\/\/ ([\w.-]+)\n[\s\S]*?)^```$/gm)
  const files = [...blocks].filter(([, , name]) => pattern.test(name))
  assert.notEqual(files.length, 0, `${file} has no such file`)
  for (const [, text, name] of files) writeFileSync(join(guide, name), text)
}

rmSync(guide, { recursive: true, force: true })
rmSync(build, { recursive: true, force: true })
mkdirSync(guide)
tool('openapi-typescript', join(root, 'docs', 'openapi.json'), '--output', join(guide, 'schema.d.ts'))
takeOut('client.md', /ts$/)
cpSync(join(root, 'docs', 'examples', 'session.mjs'), join(guide, 'session.mjs'))
tool('tsc')
cpSync(join(guide, 'session.mjs'), join(build, 'guide', 'session.mjs'))

await withBuilt((binary) => withService(binary, {}, async (service) => {
  for (const file of readdirSync(build).filter((name) => name.endsWith('.js')).sort()) {
    const program = await import(join(build, file))
    if (!program.run) continue // has only types
    await program.run(service)
    console.log(`${file}: done`)
  }
}))
