// Checks docs/openapi.json, the guides and the generated client: with linters; with a TypeScript compiler and a running service, by
// extracting the code of docs/client.md and docs/changes.md, type-checking it with the programs in this directory and running these; and
// with a proxy that compares requests and responses with the document.
//
// The service is a copy of the repository with resources of each kind, so that their client is tested too.
//
//   npm --prefix scripts/checks/client ci && npm --prefix scripts/checks/client test
//
// It needs Go.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { transformSync } from 'esbuild'
import { calls } from './calls.mjs'
import { root, withBuilt, withService } from '../browser/service.mjs'
import { totp } from '../browser/totp.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const guide = join(here, 'guide')
const build = join(here, 'build')
const generated = join(here, 'generated')

/** The resources of the service: references, enums, defaults, lists, nested and restricted ones. */
const resources = [
  'maker name:string:required:unique:search:sort photo:image:max=5MB papers:[]file:max=50MB',
  'ware title:string:required:search:sort:filter maker:ref(maker):required:filter parts:[]ref(maker):onDelete=clear '
    + 'state:enum(new,used):default=new:filter:sort kind:enum(tool,toy):required price:decimal:filter size:int:min=1 note:text '
    + 'tags:[]string:filter stock:int:readonly:default=0 heavy:bool:filter extra:json',
  'order note:text --own list,show --changes',
  'line ware:ref(ware):required amount:int:required:min=1 --under order --changes',
  'gift-card code:string:required --methods create,list --master create',
]

/** Runs a command of Go in a directory. */
function go(dir, ...args) {
  const done = spawnSync('go', args, { cwd: dir, encoding: 'utf8' })
  assert.equal(done.status, 0, `go ${args.join(' ')}: ${done.stdout}${done.stderr}`)
}

/**
 * Copies the repository to a directory, adds the resources, and writes their client to generated. In it, gift cards have no Idempotency-Key.
 */
function addResources(dir) {
  const { stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
  for (const name of stdout.split('\0')) {
    if (name && existsSync(join(root, name))) cpSync(join(root, name), join(dir, name)) // not: a deleted file
  }
  for (const resource of resources) go(dir, 'run', './scripts/generate', ...resource.split(' '))
  const file = join(dir, 'docs', 'openapi.json')
  const document = JSON.parse(readFileSync(file, 'utf8'))
  const { post } = document.paths['/gift-cards']
  post.parameters = post.parameters.filter(({ name }) => name !== 'Idempotency-Key')
  writeFileSync(file, JSON.stringify(document))
  go(dir, 'run', './scripts/client', '--out', generated)
}

/** Runs a program of node_modules. */
function tool(name, ...args) {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const done = spawnSync(join(here, 'node_modules', '.bin', name), args, { cwd: here, env, stdio: 'inherit' })
  assert.equal(done.status, 0, name)
}

/** Saves the code blocks of a guide whose first line is a comment with a file name. */
function takeOut(file, pattern) {
  const blocks = readFileSync(join(root, 'docs', file), 'utf8').matchAll(/^```(?:js|ts)\n(\/\/ ([\w.-]+)\n[\s\S]*?)^```$/gm)
  const files = [...blocks].filter(([, , name]) => pattern.test(name))
  assert.notEqual(files.length, 0, `${file} has no such file`)
  for (const [, text, name] of files) writeFileSync(join(guide, name), text)
}

/** Checks the size that docs/client.md promises, in bytes: as esbuild --minify and gzip -9 make it. */
function checkSize() {
  const { code } = transformSync(readFileSync(join(root, 'clients', 'typescript', 'index.js'), 'utf8'), { minify: true })
  const { length } = gzipSync(code, { level: 9 })
  assert.ok(length <= 7168, `${length} bytes`)
  console.log(`index.js: ${length} bytes`)
}

checkSize()
rmSync(guide, { recursive: true, force: true })
rmSync(build, { recursive: true, force: true })
rmSync(generated, { recursive: true, force: true })
mkdirSync(guide)
const document = join(root, 'docs', 'openapi.json')
tool('spectral', 'lint', document, '--fail-severity', 'warn', '--quiet')
tool('redocly', 'lint', document)
takeOut('client.md', /ts$/)
takeOut('changes.md', /ts$/)
const project = mkdtempSync(join(tmpdir(), 'project-'))
process.once('exit', () => rmSync(project, { recursive: true, force: true }))
addResources(project)
const readme = readFileSync(join(generated, 'README.md'), 'utf8').match(/^```ts\n([\s\S]*?)^```$/m)
writeFileSync(join(guide, 'readme.ts'), readme[1]) // is type-checked, and not run
tool('openapi-typescript', join(project, 'docs', 'openapi.json'), '--default-non-nullable=false', '--output', join(generated, 'independent.d.ts'))
const installed = join(here, 'node_modules', 'ginseng-client') // as npm install DIR does
rmSync(installed, { force: true })
symlinkSync(generated, installed)
tool('tsc')

await withBuilt(async (binary) => {
  await withService(binary, { PUBLIC_SIGNUP: 'true', PUBLIC_URL: 'https://api.example.com' }, async (service) => {
    for (const file of readdirSync(build).filter((name) => name.endsWith('.js')).sort()) {
      const program = await import(join(build, file))
      if (!program.run) continue // has only types
      await program.run({ ...service, totp })
      console.log(`${file}: done`)
    }
  })
  await withService(binary, { RESET_LINK_ORIGINS: 'https://app.example.com', VERIFY_LINK_ORIGINS: 'https://app.example.com' }, async (service) => {
    const number = await calls(join(here, 'node_modules', '.bin', 'prism'), document, service)
    console.log(`calls.mjs: ${number} calls as documented`)
  })
}, project)
