// The shell: sign-in, navigation, and the screen of the address.

import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call, onSession, service, signOut, transfer, user } from './session.js'
import { confirm, Confirmations, Dialog, Failure, formatNumber, html, Loading, Screen, toast, Toasts, typing, useEvent, useLoad, zone } from './ui.js'
import { readDocument } from './document.js'
import { drafts, dropDraft } from './draft.js'
import { ListScreen } from './list.js'
import { NewScreen, RecordScreen } from './record.js'
import { OrganizationPanels, UserPanels } from './people.js'
import { sendResponse } from './providers.js'
import { Reference } from './reference.js'
import { api, hrefOf, lists, setApi, useAddress } from './router.js'
import { Changes, Emails, Evaluation, Jobs, Webhooks, WebhookScreen } from './service.js'
import { SignIn, SignInAgain } from './signin.js'
import { flush } from './trash.js'

const documentURL = new URL('openapi.json', location.href).href

/** The screens of operations that are no resources, by path. */
const screens = [
  { path: '/webhooks', label: 'Webhooks', screen: Webhooks }, { path: '/emails', label: 'Emails', screen: Emails }, { path: '/jobs', label: 'Jobs', screen: Jobs }, { path: '/changes', label: 'Audit log', screen: Changes },
].map((item) => ({ ...item, has: () => api().operation('GET', item.path) }))

/** What the page adds to records of the service's own resources: below the form, and beside the heading. */
const panels = { users: UserPanels, organizations: OrganizationPanels }
const marks = { users: (user) => user.suspended && 'Suspended' }

/** Returns the groups of the navigation. */
function navigation() {
  const listed = api().resources.filter((resource) => !resource.parent && (resource.list || resource.create))
  const item = ({ path, label }) => ({ path, label })
  const own = ['users', 'organizations', 'policies']
  const group = (names) => listed.filter((resource) => names.includes(resource.name)).map(item)
  return [
    { label: 'Data', items: listed.filter((resource) => !own.includes(resource.name)).map(item) },
    { label: 'People', items: group(['users', 'organizations']) },
    { label: 'Service', items: [...group(['policies']), ...screens.filter((screen) => screen.has()).map(item)] },
  ].filter(({ items }) => items.length)
}

function Home() {
  const listed = api().resources.filter((resource) => resource.list && !resource.parent)
  return html`<${Screen} title="Overview"><ul class="tiles">${listed.map((resource) => html`<${Tile} key=${resource.name} resource=${resource} />`)}</ul>
    <p class="hint">Times are shown in ${zone}. Press <kbd>?</kbd> for the keys.</p></${Screen}>`
}

function Tile({ resource }) {
  const count = useLoad((signal) => call('GET', resource.path, { query: { limit: 1 }, signal }), [])
  return html`<li><a href=${hrefOf(resource.path)}><span>${resource.label}</span><b class="number">${count.data ? formatNumber(count.data.count ?? 0) : count.error ? '–' : '…'}</b></a></li>`
}

/** Returns the screen of a path. */
function Route({ path, query }) {
  if (path === '/') return html`<${Home} />`
  const special = screens.find((screen) => screen.path === path && screen.has())
  if (special) return html`<${special.screen} key=${path} query=${query} />`
  const webhook = path.match(/^\/webhooks\/([0-9a-f]{24})$/)
  if (webhook && api().operation('GET', '/webhooks/{id}')) return html`<${WebhookScreen} key=${path} id=${webhook[1]} query=${query} />`
  if (path === '/policies/evaluate' && api().operation('POST', path)) return html`<${Evaluation} />`
  for (const resource of api().resources) {
    const match = /^(\/[\w-]+)*\/?$/.test(path) && path.match(resource.pattern) // no path leaves its resource, as /.. would
    if (!match) continue
    const id = match[1], collection = id ? path.slice(0, -id.length - 1) : path
    const trail = html`${resource.parent && html`<${ParentTrail} resource=${resource} path=${collection} />`}${id && html`<a href=${hrefOf(collection, lists.get(collection)?.query)}>${resource.label}</a>`}`
    if (id === 'new' && resource.create) return html`<${NewScreen} key=${path} resource=${resource} path=${collection} trail=${trail} />`
    if (id) return html`<${RecordScreen} key=${path} resource=${resource} path=${collection} id=${id} trail=${trail} mark=${marks[resource.name]} panels=${panels[resource.name] && ((props) => html`<${panels[resource.name]} ...${props} />`)} />`
    if (resource.list) {
      const extra = resource.name === 'policies' && api().operation('POST', '/policies/evaluate') && html`<a class="button" href="#/policies/evaluate">Evaluate</a>`
      return html`<${ListScreen} key=${path} resource=${resource} path=${path} query=${query} trail=${resource.parent && trail} extra=${extra} />`
    }
    if (resource.create) return html`<${NewScreen} key=${path} resource=${resource} path=${collection} />`
  }
  return html`<${Screen} title="Not found"><p>There is no such screen. <a href="#/">Go to the start</a></p></${Screen}>`
}

function ParentTrail({ resource, path }) {
  const parent = api().byName(resource.parent)
  const own = path.slice(0, path.lastIndexOf('/'))
  return html`<a href=${hrefOf(own.slice(0, own.lastIndexOf('/')))}>${parent.label}</a> <${Reference} name=${parent.name} id=${own.split('/').pop()} /> `
}

/** Tells the admin if the API has changed since the page was opened. */
function useNewDocument(tag) {
  useEvent('visibilitychange', async () => {
    if (document.visibilityState !== 'visible') return
    const response = await transfer('GET', documentURL).catch(() => undefined)
    if (response && response.headers.get('ETag') !== tag) toast('The API has changed.', { time: 60_000, action: { label: 'Reload', run: () => location.reload() } })
  }, document)
}

function Keys({ onClose }) {
  const keys = [['/', 'Search'], ['Ctrl S', 'Save, create'], ['n', 'Next record of the list'], ['p', 'Previous record of the list'], ['?', 'This list'], ['Esc', 'Close a dialog or menu']]
  return html`<${Dialog} title="Keys" onClose=${onClose}><dl class="keys">${keys.map(([key, text]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}</dl></${Dialog}>`
}

/** Signs out. The next admin in this tab does not see what this one has entered. */
async function leave() {
  const unsaved = drafts()
  if (unsaved.length && !await confirm('Sign out?', 'Changes that are not saved are lost.', 'Sign out')) return
  unsaved.forEach(dropDraft)
  await flush()
  await signOut().catch(() => {})
  location.reload()
}

function Shell({ tag }) {
  const { path, query } = useAddress()
  const [help, setHelp] = useState(false)
  const [, redraw] = useState(0)
  useNewDocument(tag)
  useEvent('drafts', () => redraw((n) => n + 1))
  useEvent('hashchange', () => document.getElementById('navigation')?.matches(':popover-open') && document.getElementById('navigation').hidePopover())
  useEvent('keydown', (event) => { if (event.key === '?' && !typing(event)) setHelp(true) })
  const unsaved = drafts()
  const current = (item) => path === item.path || path.startsWith(`${item.path}/`)
  return html`<a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.querySelector('h1')?.focus() }}>Skip to the content</a>
    <header class="top"><button type="button" class="quiet" popovertarget="navigation" aria-label="Menu">☰</button><a href="#/"><b>${service.name}</b></a></header>
    <nav id="navigation" popover aria-label="Resources">
      <a class="home" href="#/"><img src="icon.svg" alt="" width="20" height="20" /><bdi>${service.name}</bdi></a>
      ${navigation().map((group) => html`<section key=${group.label}><h2>${group.label}</h2><ul>${group.items.map((item) => html`<li key=${item.path}>
        <a href=${hrefOf(item.path)} aria-current=${current(item) ? 'page' : undefined}>${item.label}${unsaved.some((draft) => draft.startsWith(`${item.path}/`)) && html`<span class="dot" title="Unsaved changes"><span class="hidden">Unsaved changes</span></span>`}</a></li>`)}</ul></section>`)}
      <footer><bdi>${user()?.email}</bdi><button type="button" class="quiet" onClick=${leave}>Sign out</button></footer>
    </nav>
    <main id="main"><${Route} path=${path} query=${query} /></main>
    ${help && html`<${Keys} onClose=${() => setHelp(false)} />`}`
}

function App() {
  const [started, setStarted] = useState(Boolean(user()))
  useEffect(() => onSession(() => user()?.role === 'admin' && setStarted(true)), []) // also in another tab
  const loaded = useLoad(async () => {
    if (!started) return undefined
    const response = await transfer('GET', documentURL)
    setApi(readDocument(await response.json()))
    return { tag: response.headers.get('ETag') }
  }, [started])
  let content
  if (!started) content = html`<main class="door"><h1><img src="icon.svg" alt="" width="28" height="28" /> <bdi>${service.name}</bdi></h1><${SignIn} onDone=${() => setStarted(true)} /></main>`
  else if (loaded.data?.tag !== undefined) content = html`<${Shell} tag=${loaded.data.tag} />`
  else if (loaded.error) content = html`<main class="door"><h1><bdi>${service.name}</bdi></h1><${Failure} error=${loaded.error} retry=${loaded.reload} /><button type="button" onClick=${leave}>Sign out</button></main>`
  else content = html`<main class="door"><h1><bdi>${service.name}</bdi></h1><${Loading} /></main>`
  return html`${content}<${SignInAgain} /><${Confirmations} /><${Toasts} />`
}

render(sendResponse() ? html`<main class="door"><p>You can close this window.</p></main>` : html`<${App} />`, document.getElementById('app'))
