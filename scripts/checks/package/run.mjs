// Packs the generated client, checks the package, installs it in a new project of Vite and in one of Node.js, and runs both: with
// Node.js 20 or later and 22, and in Chromium. Then compiles what orval and hey-api generate from the API document.
//
//   npm --prefix scripts/checks/package ci && npm --prefix scripts/checks/browser ci && npm --prefix scripts/checks/package test

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { preview } from 'vite'
import { withBrowser } from '../browser/chromium.mjs'
import { root, withBuilt, withService } from '../browser/service.mjs'

const modules = fileURLToPath(new URL('node_modules', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'package-'))
process.once('exit', () => rmSync(dir, { recursive: true, force: true }))

/** Runs a command in a directory; returns its output. */
function run(cwd, command, ...args) {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, PATH: `${join(modules, '.bin')}:${process.env.PATH}` } })
  assert.equal(done.status, 0, `${command} ${args.join(' ')}: ${done.error ?? ''}${done.stdout}${done.stderr}`)
  return done.stdout
}

/** Creates a project with the files, and installs the package in it. */
function project(name, files, tarball) {
  const home = join(dir, name)
  mkdirSync(join(home, 'src'), { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(home, file), typeof text === 'string' ? text : JSON.stringify(text))
  run(home, 'npm', 'install', '--offline', '--no-audit', '--no-fund', tarball)
  return home
}

const strict = { strict: true, target: 'ES2022', lib: ['ES2022', 'DOM', 'DOM.Iterable'], skipLibCheck: false, types: [] }

/** The program of both projects. It prints a title, as of the type that the package declares. */
const program = (url, print) => `import { type Records, createClient } from 'ginseng-client'
const api = createClient({ url: ${url} })
await api.session.signUp({ email: \`\${crypto.randomUUID()}@example.com\`, password: 'analytical engine' })
const article: Records['article'] = await api.articles.create({ title: 'Packed' })
const { rows } = await api.articles.list({ userId: article.userId, fields: ['title'] })
// @ts-expect-error: content was not requested
rows[0]?.content
${print}(rows.map(({ title }) => title).join())
export {}
`

async function main() {
  run(join(root, 'clients/typescript'), 'npm', 'pack', '--pack-destination', dir)
  const tarball = join(dir, 'ginseng-client-1.0.0.tgz')
  console.log(run(dir, 'publint', 'run', tarball, '--strict').trim().split('\n').at(-1))
  run(dir, 'attw', tarball, '--profile', 'esm-only', '--no-emoji')
  console.log('attw: no problems')

  const node = project('node', {
    'package.json': { name: 'node-project', version: '1.0.0', type: 'module' },
    'tsconfig.json': { compilerOptions: { ...strict, module: 'NodeNext', outDir: 'dist', rootDir: 'src' }, include: ['src'] },
    'src/main.ts': program('process.env.URL!', 'console.log').replace('const api', 'declare const process: { env: { URL?: string } }\nconst api'),
  }, tarball)
  run(node, 'tsc')
  const vite = project('vite', {
    'package.json': { name: 'vite-project', version: '1.0.0', type: 'module' },
    'tsconfig.json': { compilerOptions: { ...strict, module: 'ESNext', moduleResolution: 'bundler', noEmit: true }, include: ['src'] },
    'index.html': '<!doctype html><title>vite</title><p></p><script type="module" src="/src/main.ts"></script>',
    'src/main.ts': program("new URL(location.href).searchParams.get('api')!", "document.querySelector('p')!.append"),
  }, tarball)
  run(vite, 'tsc')
  run(vite, 'vite', 'build', '--logLevel', 'warn')

  await withBuilt((binary, home) => withService(binary, { APP_ENV: 'development', PUBLIC_SIGNUP: 'true' }, async ({ address }) => {
    for (const command of [process.execPath, join(modules, '.bin', 'node')]) {
      const done = spawnSync(command, [join(node, 'dist/main.js')], { encoding: 'utf8', env: { URL: address } })
      assert.equal(done.stdout, 'Packed\n', done.stderr)
      console.log(`Node.js ${spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout.trim()}: done`)
    }
    const server = await preview({ root: vite, preview: { host: '127.0.0.1', port: 0 }, logLevel: 'warn' })
    const { port } = server.httpServer.address()
    await withBrowser(home, async (browser) => {
      const page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${port}/?api=${encodeURIComponent(address)}`)
      await page.getByText('Packed', { exact: true }).waitFor()
      console.log('Vite, in Chromium: done')
    })
    await server.close()
  }))

  const others = join(dir, 'others')
  mkdirSync(join(others, 'src'), { recursive: true })
  symlinkSync(modules, join(others, 'node_modules'))
  writeFileSync(join(others, 'package.json'), '{"name": "others", "type": "module"}')
  const document = join(root, 'docs', 'openapi.json')
  run(others, 'orval', '--input', document, '--output', './src/orval.ts', '--client', 'fetch')
  run(others, 'openapi-ts', '--input', document, '--output', './src/hey-api', '--client', '@hey-api/client-fetch')
  writeFileSync(join(others, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...strict, skipLibCheck: true, module: 'ESNext', moduleResolution: 'bundler', noEmit: true }, include: ['src'] }))
  run(others, 'tsc')
  console.log('orval, hey-api: compiled')
}

await main()
