// The browser test of the admin page: generates resources that the page does not know, with every type of field, in a copy of the repository, and does the
// work of an admin on them. No request may go to another host, nothing may be logged as an error, and axe must find no violation on any screen.
// Screenshots are saved in tmp/admin.
//
//   npm --prefix scripts/checks/browser ci && npm --prefix scripts/checks/browser run admin

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { email, password, Requests, withAdmin } from './admin-page.mjs'
import { behindProxy, lists } from './admin-lists.mjs'
import { requiredFactor, rights } from './admin-rights.mjs'
import { signIns } from './admin-sign-in.mjs'
import { tabs } from './admin-tabs.mjs'
import { withBrowser } from './chromium.mjs'
import { withProviders } from './providers.mjs'
import { root, withBuilt, withService } from './service.mjs'
import { totp } from './totp.mjs'

const pictures = join(root, 'tmp', 'admin')

const resources = [
  'maker name:string:required:unique:search:sort country:string:filter',
  'plant title:string:required:search:sort:filter:max=80 body:text:search stars:int:min=1:max=5:sort:filter weight:float:sort price:decimal:sort:filter active:bool:filter:default=true '
    + 'seen:time:sort:filter born:date:sort:filter mail:email:filter link:url code:uuid state:enum(draft,live,gone):required:filter maker:ref(maker):required:filter '
    + 'helper:ref(user):onDelete=clear makers:[]ref(maker):onDelete=clear tags:[]string:filter sizes:[]int extra:json cover:image scans:[]file:types=text/plain serial:int:readonly --changes',
  'measure label:string:required value:decimal --under plant',
  'event title:string:required:search:sort starts:time --own organization',
]

/** Runs a program in a directory. */
function run(cwd, command, ...args) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  assert.equal(status, 0, [command, ...args].join(' '))
}

/** Calls job with a copy of the repository that has the resources. */
async function withProject(job) {
  const project = mkdtempSync(join(tmpdir(), 'project-'))
  try {
    run(root, 'sh', '-c', `git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf - | tar -xf - -C '${project}'`)
    run(project, 'git', 'init', '-q')
    run(project, 'git', 'add', '-A')
    run(project, 'git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'start')
    run(project, 'go', 'build', '-o', join(project, 'generate'), './scripts/generate')
    for (const resource of resources) run(project, './generate', ...resource.split(' '))
    await job(project)
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

/** The libraries of the page are those of the npm packages, whose integrity package-lock.json has. */
function checkLibraries() {
  const page = join(root, 'kit', 'adminpage')
  const modules = fileURLToPath(new URL('node_modules/', import.meta.url))
  for (const [own, published] of [['page/preact.mjs', 'preact/dist/preact.mjs'], ['page/hooks.mjs', 'preact/hooks/dist/hooks.mjs'], ['page/htm.mjs', 'htm/dist/htm.mjs'],
    ['LICENSE-preact', 'preact/LICENSE'], ['LICENSE-htm', 'htm/LICENSE']]) {
    assert.ok(readFileSync(join(page, own)).equals(readFileSync(join(modules, published))), `${own} is not ${published}`)
  }
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', import.meta.url), 'utf8'))
  const readme = readFileSync(join(page, 'README.md'), 'utf8')
  for (const name of ['preact', 'htm']) assert.ok(readme.includes(lock.packages[`node_modules/${name}`].integrity), `the integrity of ${name}`)
}

async function firstAdmin(admin, { address, masterKey }) {
  const { page } = admin
  await page.goto(`${address}/admin`)
  await page.getByText('no administrator yet').waitFor()
  await admin.check('first admin')
  await admin.fill({ Email: email, Password: password, 'Master key': masterKey })
  await admin.click('Create administrator')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await admin.check('overview')
}

/** Creates a record with a value of each field by its label. */
async function create(admin, api) {
  const { page } = admin
  for (const name of ['Alder', 'Birch']) await api.post('/makers', { name })
  await admin.open('/plants')
  await page.getByText('There is no plant yet.').waitFor()
  await admin.check('empty list')
  await page.getByRole('link', { name: 'Create the first plant' }).click()
  await admin.click('Create')
  await page.getByText('Correct the fields that are marked.').waitFor()
  assert.equal(await page.getByLabel('Title').getAttribute('aria-invalid'), 'true', 'a required field without a value has no error')
  await admin.check('form with errors')
  await admin.fill({
    Title: 'Panax', Body: 'Line 1\nLine 2', Stars: '5', Weight: '1.5', Price: '12.50', Seen: '2026-03-04T05:06:07', Born: '2019-02-03', Mail: 'a@example.com', Link: 'https://example.com/a',
    Code: '123e4567-e89b-42d3-a456-426614174000', Tags: 'root\nred', Sizes: '1\n2', Extra: '{"soil": {"ph": 6.5}}',
  })
  await page.getByLabel('State').selectOption('live')
  await admin.pick('Maker', 'ald', 'Alder')
  await admin.pick('Helper', 'ada', 'ada')
  await admin.pick('Makers', '', 'Birch')
  await page.getByLabel('Cover').setInputFiles(join(root, 'docs', 'swagger-ui.png'))
  await page.getByLabel('Scans').setInputFiles([{ name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('one') }, { name: 'two.txt', mimeType: 'text/plain', buffer: Buffer.from('two') }])
  await admin.click('Create')
  await page.getByRole('heading', { name: 'Panax' }).waitFor()
  const [stored] = (await api.get('/plants')).rows
  const seen = new Date(2026, 2, 4, 5, 6, 7).toISOString()
  const { title, body, stars, weight, price, active, born, mail, link, code, state, tags, sizes, extra } = stored
  assert.deepEqual({ title, body, stars, weight, price, active, seen: new Date(stored.seen).toISOString(), born, mail, link, code, state, tags, sizes, extra }, {
    title: 'Panax', body: 'Line 1\nLine 2', stars: 5, weight: 1.5, price: '12.5', active: true, seen, born: '2019-02-03', mail: 'a@example.com', link: 'https://example.com/a',
    code: '123e4567-e89b-42d3-a456-426614174000', state: 'live', tags: ['root', 'red'], sizes: [1, 2], extra: { soil: { ph: 6.5 } },
  })
  assert.equal(stored.cover.name, 'swagger-ui.png')
  assert.deepEqual(stored.scans.map(({ name }) => name), ['one.txt', 'two.txt'])
  await page.locator('img.preview').waitFor()
  await admin.check('record')
  return stored
}

/** Clears and changes fields, and replaces and deletes files. */
async function change(admin, api, plant) {
  const { page } = admin
  await admin.fill({ Stars: '', Mail: '', Tags: '', Extra: '{' })
  await page.getByLabel('Weight').fill('2.25')
  await admin.click('Save')
  await page.getByText('This is not valid JSON.').waitFor()
  await page.getByLabel('Extra').fill('')
  await page.keyboard.press('Control+s')
  await admin.saved()
  const { stars, mail, tags, extra, weight } = await api.get(`/plants/${plant.id}`)
  assert.deepEqual({ stars, mail, tags, extra, weight }, { stars: null, mail: null, tags: [], extra: null, weight: 2.25 })
  const files = page.locator('[data-field=scans]')
  await files.getByRole('button', { name: 'Delete' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await files.getByText('one.txt').waitFor({ state: 'detached' })
  await files.locator('input').setInputFiles({ name: 'three.txt', mimeType: 'text/plain', buffer: Buffer.from('three') })
  await files.getByText('three.txt').waitFor()
  await page.getByLabel('Title').fill('Panax ginseng')
  await admin.click('Save') // the version is that of the last file
  await admin.saved()
  await page.getByRole('heading', { name: 'Panax ginseng' }).waitFor()
}

/** The form of a new record with the values of another. */
async function duplicate(admin, api, plant) {
  const { page } = admin
  await admin.open(`/plants/${plant.id}`)
  await admin.click('Duplicate')
  await page.getByRole('heading', { name: 'New plant' }).waitFor()
  await page.getByLabel('Title').fill('Panax copied')
  await admin.click('Create')
  await page.getByRole('heading', { name: 'Panax copied' }).waitFor()
  const values = ({ id, title, cover, scans, createdAt, updatedAt, etag, ...rest }) => rest
  const copy = (await api.get('/plants?q=copied')).rows[0]
  assert.deepEqual(values(copy), values(await api.get(`/plants/${plant.id}`)))
  assert.deepEqual([copy.cover, copy.scans], [null, []])
  await api.send('DELETE', `/plants/${copy.id}`)
}

/** What is typed while a save runs stays in the form. */
async function typeWhileSaving(admin, api, plant) {
  const { page } = admin
  await admin.open(`/plants/${plant.id}`)
  await page.getByLabel('Body').fill('first')
  let release
  const typed = new Promise((resolve) => { release = resolve })
  await page.route('**/plants/*', (route) => typed.then(() => route.continue()), { times: 1 })
  const sent = page.waitForRequest((request) => request.method() === 'PATCH')
  await admin.click('Save')
  await sent
  await page.getByLabel('Body').fill('second')
  release()
  await admin.saved()
  assert.equal(await page.getByLabel('Body').inputValue(), 'second')
  await admin.click('Save')
  await admin.saved()
  assert.equal((await api.get(`/plants/${plant.id}`)).body, 'second')
}

/** Somebody else saves the record first. */
async function conflict(admin, api, plant) {
  const { page } = admin
  await admin.open(`/plants/${plant.id}`)
  await admin.fill({ Price: '20', Weight: '3' })
  await page.getByLabel('State').selectOption('draft')
  await api.patch(`/plants/${plant.id}`, { price: '30', state: 'gone', born: '2020-01-01' })
  await admin.click('Save')
  await page.getByText('This record was saved elsewhere in the meantime').waitFor()
  assert.equal(await page.getByRole('button', { name: /^(Save|Discard)/ }).count(), 2)
  await admin.check('conflict')
  assert.equal((await api.get(`/plants/${plant.id}`)).price, '30', 'an edit is overwritten')
  await page.getByRole('row', { name: /^State/ }).getByRole('radio').nth(1).check()
  await admin.click('Save these values')
  await admin.saved()
  const { price, state, weight, born } = await api.get(`/plants/${plant.id}`)
  assert.deepEqual({ price, state, weight, born }, { price: '20', state: 'gone', weight: 3, born: '2020-01-01' })
}

/** The session ends, and the page is reloaded, under a form. */
async function lostSession(admin, api, plant, { masterKey }) {
  const { page } = admin
  await admin.open(`/plants/${plant.id}`)
  await page.getByLabel('Body').fill('Written before the session ended')
  await page.getByRole('link', { name: 'Plants' }).last().click()
  await page.getByText('Your changes of “Panax ginseng” are kept.').waitFor()
  await page.goBack()
  await page.reload()
  await page.getByText('are restored').waitFor()
  assert.equal(await page.getByLabel('Body').inputValue(), 'Written before the session ended')
  await api.endSessions()
  await admin.click('Save')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Your session has ended').waitFor()
  await admin.check('sign in again')
  await dialog.getByLabel('Password').fill(password)
  await dialog.getByLabel('Master key').fill(masterKey)
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
  await admin.saved()
  await api.signIn()
  assert.equal((await api.get(`/plants/${plant.id}`)).body, 'Written before the session ended')
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('draft'))), [])
}

/** The list: its state is in the address, and the export is exactly the list. */
async function list(admin, api) {
  const { page } = admin
  const maker = (await api.get('/makers')).rows[0].id
  for (let i = 0; i < 120; i++) await api.post('/plants', { title: `Root ${i}`, state: i % 2 ? 'live' : 'draft', maker, stars: 1 + i % 5, price: `${i}.5` })
  await admin.open('/plants')
  await page.getByText('1–50 of 121').waitFor()
  await page.getByRole('link', { name: 'Next page' }).click()
  await page.getByText('51–100 of 121').waitFor()
  await page.reload()
  await page.getByText('51–100 of 121').waitFor()
  await page.goBack()
  await page.getByText('1–50 of 121').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('root 11')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /Root 119/ }).waitFor()
  await page.getByText('Filter', { exact: true }).click()
  await page.getByLabel('Field').selectOption('state')
  await admin.check('filter')
  await page.getByLabel('Value').selectOption('live')
  await admin.click('Add filter')
  await page.getByText('of 6').waitFor() // 11 and those from 111
  await page.getByRole('button', { name: 'Title' }).click()
  await page.locator('[aria-sort=ascending]').waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), (async () => {
    await page.getByText('Export', { exact: true }).click()
    await admin.click('CSV')
  })()])
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\r\n')
  const shown = await page.locator('tbody .open').allInnerTexts()
  assert.match(lines[0], /title/)
  assert.deepEqual(lines.slice(1).map((line) => line.match(/Root \d+/)[0]), shown)
  await page.reload()
  assert.deepEqual(await page.locator('tbody .open').allInnerTexts().then(async (names) => (names.length ? names : page.locator('tbody .open').first().waitFor().then(() => page.locator('tbody .open').allInnerTexts()))), shown)
  await admin.check('list')
}

/** Several records at a time, and deletion with undo. */
async function bulk(admin, api) {
  const { page } = admin
  await admin.open('/plants', { q: 'root 11' })
  await page.locator('.count', { hasText: /^11$/ }).waitFor()
  await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
  await page.getByLabel('Select all rows').check()
  const selected = await page.locator('tbody tr').count()
  await admin.click('Change…')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Field').selectOption('active')
  await dialog.getByRole('button', { name: `Change ${selected} records` }).click()
  await dialog.getByText('A value is required.').waitFor()
  await dialog.getByLabel('Field').selectOption('state')
  await dialog.getByLabel('New value').selectOption('gone')
  await admin.check('bulk')
  await dialog.getByRole('button', { name: `Change ${selected} records` }).click()
  await dialog.getByText(`${selected} records changed`).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  assert.equal((await api.get('/plants?state=gone&q=root')).count, selected)
  await page.getByLabel('Select all rows').check()
  await admin.click('Delete…')
  await dialog.getByRole('button', { name: `Delete ${selected} records` }).click()
  await dialog.getByText(`${selected} records deleted`).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('No plant matches.').waitFor()
  await admin.check('nothing found')
  await admin.open('/plants', { q: 'root 2' })
  await page.locator('.count', { hasText: /^11$/ }).waitFor()
  await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
  const title = await page.locator('tbody .open').first().innerText()
  await page.locator('tbody .open').first().click()
  await page.getByRole('heading', { name: title, exact: true }).waitFor()
  const count = (await api.get('/plants')).count
  await admin.click('Delete')
  await page.getByText(`“${title}” is deleted.`).waitFor()
  await admin.click('Undo')
  await page.getByText(`“${title}” is restored.`).waitFor()
  await page.getByRole('heading', { name: title }).waitFor()
  await admin.click('Delete')
  await page.getByText(`“${title}” is deleted.`).waitFor()
  assert.equal((await api.get('/plants')).count, count, 'the deletion did not wait')
  await page.reload() // sends it
  await page.getByRole('heading', { name: 'Plants' }).waitFor()
  for (let i = 0; i < 100 && (await api.get('/plants')).count === count; i++) await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)))
  assert.equal((await api.get('/plants')).count, count - 1)
  await page.locator('.count', { hasText: /^10$/ }).waitFor()
  const next = await page.locator('tbody .open').first().innerText()
  await page.locator('tbody .open').first().click()
  await page.getByRole('heading', { name: next, exact: true }).waitFor()
  await admin.click('Delete')
  await page.locator('.count', { hasText: /^9$/ }).waitFor() // without the record, which still exists
  await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
  await page.locator('.toast').getByLabel('Dismiss').click() // sends it
  for (let i = 0; i < 100 && (await api.get('/plants?q=root%202')).count > 9; i++) await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)))
  await page.reload()
  await page.locator('.count', { hasText: /^9$/ }).waitFor()
  assert.equal(await page.getByRole('link', { name: next, exact: true }).count(), 0, 'a deleted record is in the list')
}

/** A list and a record without the mouse. */
async function keyboard(admin) {
  const { page } = admin
  await admin.open('/plants')
  await page.locator('tbody .open').first().waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('root 3')
  await page.keyboard.press('Enter')
  await page.locator('tbody .open').first().waitFor()
  await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
  for (let i = 0; i < 40 && !await page.evaluate(() => document.activeElement.matches('.open')); i++) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const heading = page.getByRole('heading', { level: 1 })
  await page.locator('[data-field=title]').waitFor()
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1', 'a new screen has not the focus')
  const title = await heading.innerText()
  await page.keyboard.press('n')
  await page.waitForFunction((title) => ![title, 'Plants'].includes(document.querySelector('h1').innerText), title)
  for (let i = 0; i < 50 && await heading.innerText() !== title; i++) { // the first of the list: it has no previous one
    await page.keyboard.press('p')
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)))
  }
  await page.getByLabel('Title').waitFor()
  for (let i = 0; i < 40 && !await page.evaluate(() => document.activeElement.matches('[data-field=body] *')); i++) await page.keyboard.press('Tab')
  await page.keyboard.type('typed')
  await page.keyboard.press('Control+s')
  await admin.saved()
  assert.ok(await page.evaluate(() => document.activeElement.matches('[data-field=body] *')), 'saving moves the focus')
  await page.keyboard.press('Escape')
}

const hostile = ['<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>', '{{constructor.constructor("window.hacked=1")()}}', '‮evil‬ \u0000'.replace('\u0000', '​'), 'שלום עולם']

/** Values that attack a page. */
async function attack(admin, api) {
  const { page } = admin
  const maker = (await api.post('/makers', { name: hostile[0].slice(0, 100) })).id
  const plants = []
  for (const text of hostile) plants.push(await api.post('/plants', { title: text.slice(0, 80), body: text + 'x'.repeat(99_000), state: 'live', maker, tags: [text], extra: { text, list: Array(100).fill(text) }, link: 'https://example.com/?q=%22%3E%3Cscript%3Ewindow.hacked=1' }))
  await api.upload(`/plants/${plants[0].id}/scans?filename=${encodeURIComponent('"><img src=x onerror=window.hacked=1>.txt')}`, 'text/plain', hostile[0])
  await admin.open('/plants', { columns: 'title,body,tags,extra,link,maker' })
  await page.getByText(hostile[0].slice(0, 20)).first().waitFor()
  await admin.check('hostile list')
  for (const plant of plants) {
    await admin.open(`/plants/${plant.id}`)
    await page.locator('[data-field=title]').waitFor()
  }
  await admin.open(`/plants/${plants[0].id}`)
  await page.getByText('onerror=window.hacked').first().waitFor()
  await admin.check('hostile record')
  const { id } = (await api.get('/users')).rows[0]
  await admin.open(`/plants/..\\users\\${id}`)
  await page.getByText('There is no such screen').waitFor()
  assert.equal(await page.evaluate(() => window.hacked), undefined)
  assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('a')].map((link) => link.protocol).filter((protocol) => !/^https?:$/.test(protocol))), [])
}

/** Rows follow changes of others; created records do not move them. */
async function live(admin, api, plant) {
  const { page } = admin
  await admin.open('/plants', { q: 'panax' })
  const feed = page.waitForResponse((response) => response.url().includes('/plants/changes'))
  await page.getByText('Panax ginseng').waitFor()
  await feed
  await api.patch(`/plants/${plant.id}`, { title: 'Panax notoginseng' })
  await page.getByText('Panax notoginseng').waitFor()
  await api.post('/plants', { title: 'Panax trifolius', state: 'live', maker: plant.maker })
  await admin.click('1 new record. Show')
  await page.getByText('Panax trifolius').waitFor()
}

/** Users: a change that needs a new sign-in, and what belongs to an account. */
async function users(admin, api, { masterKey }) {
  const { page } = admin
  await admin.open('/users')
  await page.getByRole('link', { name: 'New user' }).click()
  await admin.fill({ Email: 'hopper@example.com', Password: 'short', Name: 'Grace Hopper', 'Master key': 'mistyped' })
  await admin.click('Create')
  await page.locator('[data-field=masterKey] .error', { hasText: 'This is not the master key.' }).waitFor()
  await admin.fill({ 'Master key': masterKey })
  await admin.click('Create')
  await page.locator('[data-field=password] .error').waitFor()
  await admin.check('new user')
  assert.ok(!(await page.evaluate(() => JSON.stringify(sessionStorage))).includes(masterKey), 'the master key is stored')
  await admin.fill({ Password: password })
  await admin.click('Create')
  await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
  const grace = (await api.get('/users?q=hopper')).rows[0]
  await page.getByLabel('Suspended').check()
  assert.ok(!(await page.getByLabel('Role').locator('option').allInnerTexts()).includes('–'), 'a user can have no role')
  const old = JSON.stringify({ status: 403, code: 'reauthentication_required', title: 'Forbidden', detail: 'Sign in again.', type: 'about:blank', requestId: 'x' })
  await page.route('**/users/*', (route) => route.fulfill({ status: 403, contentType: 'application/problem+json', body: old }), { times: 1 }) // an old session
  await admin.click('Save')
  await page.getByText('within the last 10 minutes').waitFor()
  await admin.check('confirm')
  await admin.fill({ Password: password, 'Master key': masterKey }) // which a reload forgets
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in', exact: true }).click()
  await admin.saved()
  assert.equal((await api.get(`/users/${grace.id}`)).suspended, true)
  await admin.open(`/users/${(await api.get('/users/me')).id}`)
  await page.getByRole('row', { name: /Chrome on (Linux|macOS|Windows) this one/ }).waitFor()
  await admin.open(`/users/${grace.id}`)
  await page.locator('.heading .tag', { hasText: 'Suspended' }).waitFor()
  await page.getByLabel('New picture').setInputFiles(join(root, 'docs', 'swagger-ui.png'))
  await page.locator('.picture img').waitFor()
  await admin.check('user')
  await admin.open('/users')
  await page.getByRole('link', { name: 'Grace Hopper' }).waitFor()
  await admin.check('users')
}

/** The special screens. */
async function serviceScreens(admin, api) {
  const { page } = admin
  const { id } = await api.post('/organizations', { name: 'Root Society' })
  await admin.open(`/organizations/${id}`)
  await page.getByRole('heading', { name: 'Members' }).waitFor()
  await admin.click('Invite…')
  await page.getByRole('dialog').getByLabel('Email').fill('new@example.com')
  await page.getByRole('dialog').getByLabel('Role').selectOption('member')
  await page.getByRole('dialog').getByLabel('Link').fill('http://localhost/{token}')
  await admin.check('invitation')
  await admin.click('Send invitation')
  await page.getByRole('cell', { name: 'new@example.com' }).waitFor()
  await admin.check('organization')
  await admin.open('/policies/new')
  await admin.fill({ Name: 'reviews', Namespace: 'shop', 'Match labels': 'app=reviews' })
  await admin.click('Create')
  await page.getByRole('heading', { name: 'reviews' }).waitFor()
  await admin.check('policy')
  await admin.open('/policies/evaluate')
  await admin.fill({ Namespace: 'shop', Metadata: '{"labels": {"app": "reviews"}}' })
  await page.getByLabel('Explain').check()
  await admin.click('Evaluate')
  await page.getByText('1 apply').waitFor()
  await admin.check('evaluation')
  const waiting = { kind: 'welcome', status: 'pending', attempts: 0, error: null, createdAt: '2026-03-04T05:06:07Z', nextAttemptAt: null }
  const users = [(await api.get('/users/me')).id, 'f'.repeat(24), null]
  await page.route('**/emails', (route) => route.fulfill({ json: { rows: users.map((userId, i) => ({ ...waiting, id: `${i}`.repeat(24), userId })), next: null } }), { times: 1 })
  await admin.open('/emails')
  await page.getByRole('cell', { name: 'deleted …ffffff' }).waitFor()
  await page.getByRole('cell', { name: 'ada', exact: true }).waitFor()
  await admin.check('waiting emails')
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByText('All emails are sent.').waitFor()
  for (const [path, name] of [['/emails', 'Emails'], ['/changes', 'Audit log'], ['/jobs', 'Jobs']]) {
    await admin.open(path)
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await page.locator('table, .empty').first().waitFor()
    await admin.check(name)
  }
}

/** A webhook whose receiver fails, and then does not. */
async function webhooks(admin, api, plant) {
  const { page } = admin
  let status = 500
  const receiver = createServer((request, response) => response.writeHead(status).end())
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  try {
    await admin.open('/webhooks')
    await page.getByText('No webhook is set up').waitFor()
    await admin.click('New webhook')
    await admin.fill({ Events: 'plant.*', Description: 'index', URL: `http://127.0.0.1:${receiver.address().port}/` })
    await admin.check('new webhook')
    await admin.click('Create webhook')
    await page.getByText('It is shown only once').waitFor()
    await admin.click('Done')
    await admin.check('webhooks')
    await page.locator('tbody .open').click()
    await admin.fill({ Description: '' })
    await admin.click('Save')
    await admin.saved()
    assert.equal((await api.get('/webhooks')).rows[0].description, '')
    await api.patch(`/plants/${plant.id}`, { stars: 2 })
    const reload = () => page.getByRole('button', { name: 'Reload' }).click()
    const see = async (text) => {
      for (let i = 0; i < 100 && !await page.getByRole('cell', { name: text }).count(); i++) {
        await reload()
        await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)))
      }
    }
    await page.getByText('Created or last changed by').getByRole('link', { name: 'ada', exact: true }).waitFor()
    await see('500')
    await admin.check('webhook')
    status = 204
    await page.getByRole('button', { name: 'Retry' }).first().click()
    await see('delivered')
    await page.getByRole('cell', { name: 'delivered' }).waitFor()
  } finally {
    receiver.closeAllConnections()
    receiver.close()
  }
}

/** Signing out sends the deletions that wait. The next sign-in needs a code. */
async function secondFactor(admin, api, { masterKey }) {
  const { page } = admin
  const { id } = await api.post('/makers', { name: 'Short' })
  const { count } = await api.get('/makers')
  await admin.open(`/makers/${id}`)
  await admin.click('Delete')
  await page.getByText('“Short” is deleted.').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Email').waitFor()
  assert.equal((await api.get('/makers')).count, count - 1, 'a deletion is lost')
  const { secret } = await api.post('/users/me/two-factor', {})
  await api.put('/users/me/two-factor', { code: totp(secret) })
  await admin.check('sign in')
  await admin.fill({ Email: email, Password: password, 'Master key': 'mistyped' })
  await admin.click('Sign in')
  await page.getByRole('alert').waitFor()
  await admin.fill({ 'Master key': masterKey })
  await admin.click('Sign in')
  await page.getByLabel('Code').fill(totp(secret, 1))
  await admin.check('second factor')
  await admin.click('Continue')
  await page.getByRole('heading', { level: 1 }).waitFor()
}

/** The service fails: the form and its values stay, and can be sent again. */
async function failures(admin, api, plant) {
  const { page } = admin
  await admin.open(`/plants/${plant.id}`)
  await page.getByLabel('Body').fill('Sent twice')
  await page.route('**/plants/*', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()))
  await admin.click('Save')
  await page.getByText('The service did not respond').waitFor()
  await page.unroute('**/plants/*')
  admin.faults.splice(0, 2).forEach((fault) => assert.match(fault, /net::ERR_FAILED/))
  await admin.click('Retry')
  await admin.saved()
  assert.equal((await api.get(`/plants/${plant.id}`)).body, 'Sent twice')
}

async function day(admin, service) {
  const api = new Requests(service)
  await firstAdmin(admin, service)
  await api.signIn()
  const plant = await create(admin, api)
  await change(admin, api, plant)
  await duplicate(admin, api, plant)
  await typeWhileSaving(admin, api, plant)
  await conflict(admin, api, plant)
  await failures(admin, api, plant)
  await lostSession(admin, api, plant, service)
  await list(admin, api)
  await bulk(admin, api)
  await keyboard(admin)
  await live(admin, api, plant)
  await attack(admin, api)
  await users(admin, api, service)
  await serviceScreens(admin, api)
  await webhooks(admin, api, plant)
  await secondFactor(admin, api, service)
  return api.document()
}

checkLibraries()
rmSync(pictures, { recursive: true, force: true })
mkdirSync(pictures, { recursive: true })
await withProject((project) => withBuilt((binary, dir) => withBrowser(dir, (browser) => withProviders(dir, (providers) =>
  withService(binary, { ...providers, APP_ENV: 'development', FILES_URL: 'file:files', WEBHOOK_NETWORKS: '127.0.0.0/8', PUBLIC_URL: 'http://localhost' }, async (service) => {
    let screens = await withAdmin(browser, service.address, pictures, (admin) => day(admin, service))
    for (const part of [lists, behindProxy, rights, tabs, signIns]) screens += await part(browser, service, pictures)
    screens += await withService(binary, { APP_ENV: 'development', ADMIN: 'true', REQUIRE_TWO_FACTOR: 'admin' }, (strict) => requiredFactor(browser, strict, pictures))
    console.log(`admin.mjs: ${screens} screens without violations: ${pictures}`)
  }))), project))
