// Parts that all screens share.

import { h } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import htm from 'htm'
import { transfer } from './session.js'

export const html = htm.bind(h)

/** Loads data. The data stays while it is loaded again, and if that fails. */
export function useLoad(load, deps) {
  const [state, set] = useState({ loading: true })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const stop = new AbortController()
    set(({ data }) => ({ data, loading: true }))
    load(stop.signal).then((data) => stop.signal.aborted || set({ data }), (error) => stop.signal.aborted || set(({ data }) => ({ data, error })))
    return () => stop.abort()
  }, [...deps, turn])
  return { ...state, reload: () => setTurn((turn) => turn + 1), setData: (change) => set((state) => ({ ...state, data: change(state.data) })) }
}

/** Calls a function for each event of the window, with the newest closure. */
export function useEvent(type, listener, target = window) {
  const newest = useRef()
  newest.current = listener
  useEffect(() => {
    const call = (event) => newest.current(event)
    target.addEventListener(type, call)
    return () => target.removeEventListener(type, call)
  }, [type, target])
}

const number = new Intl.NumberFormat()
const dateFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const fullFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

export const formatNumber = (value) => number.format(value)
export const formatDate = (value) => formatSafely(dateFormat, `${value}T00:00:00Z`)
export const plural = (count, one, many = `${one}s`) => `${formatNumber(count)} ${count === 1 ? one : many}`

/** The local time zone, such as Europe/Berlin. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Returns the offset of the local time zone at a time, such as GMT+1. */
export function offsetAt(time) {
  const parts = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' }).formatToParts(Number.isNaN(+time) ? new Date() : time)
  return parts.find((part) => part.type === 'timeZoneName')?.value
}

function formatSafely(format, value) {
  const time = new Date(value)
  return Number.isNaN(+time) ? String(value) : format.format(time)
}

export function Time({ value }) {
  if (!value) return html`<span class="none">–</span>`
  return html`<time class="number" datetime=${value} title=${`${formatSafely(fullFormat, value)}, ${zone}`}>${formatSafely(timeFormat, value)}</time>`
}

export function formatSize(bytes) {
  const unit = ['B', 'kB', 'MB', 'GB'][Math.min(3, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))]
  return `${Number((bytes / 1000 ** ['B', 'kB', 'MB', 'GB'].indexOf(unit)).toPrecision(3))} ${unit}`
}

/** Shows the problem of a request, with what the admin can do. */
export function Failure({ error, retry, id }) {
  if (!error) return null
  const text = error.status === 0 ? 'The service did not respond. Check the connection.' : error.detail ?? error.message
  return html`<div class="note bad" role="alert" id=${id}>
    <p>${text}${error.requestId && error.status >= 500 && html` <small>Request ${error.requestId}</small>`}</p>
    ${retry && html`<button type="button" onClick=${retry}>Retry</button>`}
  </div>`
}

export function Loading({ what = 'Loading' }) {
  return html`<p class="loading" role="status">${what}…</p>`
}

/** Shows that something which is already shown is loaded again, if that takes longer than half a second. */
export function Late({ on }) {
  const [late, setLate] = useState(false)
  useEffect(() => {
    if (!on) return setLate(false)
    const timer = setTimeout(() => setLate(true), 500)
    return () => clearTimeout(timer)
  }, [Boolean(on)])
  return html`<span class="hint" role="status">${late && 'Loading…'}</span>`
}

export function Empty({ children }) {
  return html`<div class="empty">${children}</div>`
}

/** A modal dialog. It calls onClose when it is cancelled; the browser restores the focus. */
export function Dialog({ title, children, onClose, wide }) {
  const ref = useRef(), id = useId()
  useEffect(() => {
    const element = ref.current
    element.showModal()
    return () => element.close()
  }, [])
  const cancel = (event) => {
    event.preventDefault()
    onClose()
  }
  return html`<dialog ref=${ref} aria-labelledby=${id} class=${wide ? 'wide' : ''} onCancel=${cancel}>
    <header><h2 id=${id}>${title}</h2><button type="button" class="quiet icon" aria-label="Close" onClick=${onClose}>✕</button></header>
    ${children}
  </dialog>`
}

let ask
/** Asks for a confirmation. Resolves to whether the admin has confirmed. */
export const confirm = (title, text, action, danger = true) => new Promise((resolve) => ask({ title, text, action, danger, resolve }))

export function Confirmations() {
  const [open, setOpen] = useState()
  ask = setOpen
  if (!open) return null
  const end = (result) => {
    setOpen(undefined)
    open.resolve(result)
  }
  return html`<${Dialog} title=${open.title} onClose=${() => end(false)}>
    <p>${open.text}</p>
    <footer><button type="button" autofocus onClick=${() => end(false)}>Cancel</button>
      <button type="button" class=${open.danger ? 'danger' : 'main'} onClick=${() => end(true)}>${open.action}</button></footer>
  </${Dialog}>`
}

let toasts = []
let showToasts = () => {}
/** Shows a message for a time in ms. action has a label and a function. Returns a function that removes it. */
export function toast(text, { action, time = 6000, bad, onEnd } = {}) {
  const entry = { text, action, bad }
  const remove = () => {
    toasts = toasts.filter((other) => other !== entry)
    showToasts(toasts)
  }
  toasts.find((other) => other.text === text && !other.action)?.close()
  toasts = [...toasts, entry]
  showToasts(toasts)
  const timer = setTimeout(() => { remove(); onEnd?.() }, time)
  entry.close = () => { clearTimeout(timer); remove() }
  return entry.close
}

export function Toasts() {
  const [list, setList] = useState(toasts)
  showToasts = setList
  return html`<div class="toasts" role="status" aria-live="polite">
    ${list.map((entry) => html`<div class=${entry.bad ? 'toast bad' : 'toast'} key=${entry}>
      <span dir="auto">${entry.text}</span>
      ${entry.action && html`<button type="button" onClick=${() => { entry.close(); entry.action.run() }}>${entry.action.label}</button>`}
      <button type="button" class="quiet icon" aria-label="Dismiss" onClick=${() => { entry.close(); entry.action?.dismiss?.() }}>✕</button>
    </div>`)}
  </div>`
}

/** A button that opens a panel, and closes it with Escape and a click elsewhere. */
export function Menu({ label, children, align = 'start', title, cls = '' }) {
  const ref = useRef()
  const close = (focus) => {
    if (!ref.current?.open) return
    ref.current.open = false
    if (focus) ref.current.querySelector('summary').focus()
  }
  useEvent('pointerdown', (event) => { if (!ref.current?.contains(event.target)) close(false) })
  const place = () => { // inside of the window
    const panel = ref.current.querySelector('.panel')
    panel.style.translate = ''
    const { left, right } = panel.getBoundingClientRect()
    const width = document.documentElement.clientWidth - 8
    panel.style.translate = `${right > width ? Math.max(width - right, 8 - left) : Math.max(0, 8 - left)}px`
  }
  useEvent('resize', () => ref.current?.open && place())
  const keys = (event) => { if (event.key === 'Escape' && !event.defaultPrevented) { event.preventDefault(); close(true) } }
  return html`<details class=${`menu ${align} ${cls}`} ref=${ref} onKeyDown=${keys} onToggle=${() => ref.current?.open && place()}>
    <summary class="button" aria-label=${title}>${label}</summary>
    <div class="panel">${typeof children === 'function' ? children(() => close(true)) : children}</div>
  </details>`
}

/** A button that runs a function that returns a promise, and shows that it runs. Problems are shown as a message. */
export function Action({ run, children, cls = '', done, confirmation, ...rest }) {
  const [busy, setBusy] = useState(false)
  const click = async () => {
    if (confirmation && !await confirm(...confirmation)) return
    setBusy(true)
    try {
      await run()
      if (done) toast(done)
    } catch (error) {
      toast(error.detail ?? error.message, { bad: true, time: 12_000 })
    } finally {
      setBusy(false)
    }
  }
  return html`<button type="button" class=${cls} aria-busy=${busy} disabled=${busy} onClick=${click} ...${rest}>${children}</button>`
}

/** A table. A column has a label and a function cell(row); number aligns it at the end. */
export function Table({ caption, columns, rows, empty, keyOf = (row) => row.id }) {
  if (!rows?.length) return html`<${Empty}>${empty}</${Empty}>`
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table class="rows">
    <caption class="hidden">${caption}</caption>
    <thead><tr>${columns.map((column) => html`<th scope="col" class=${column.number ? 'end' : ''}>${column.label || html`<span class="hidden">Actions</span>`}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${keyOf(row)}>${columns.map((column) =>
      html`<td data-label=${column.label} class=${column.number ? 'end number' : column.label ? '' : 'actions'}>${column.cell(row)}</td>`)}</tr>`)}</tbody>
  </table></div>`
}

/** Loads the bytes of a path with the token, and returns a URL of them. */
export function useBlob(path) {
  const [url, setUrl] = useState()
  useEffect(() => {
    if (!path) return undefined
    const stop = new AbortController()
    let made
    transfer('GET', path, { signal: stop.signal }).then((response) => response.blob()).then((blob) => {
      if (!stop.signal.aborted) setUrl(made = URL.createObjectURL(blob))
    }, () => {})
    return () => {
      stop.abort()
      if (made) URL.revokeObjectURL(made)
      setUrl(undefined)
    }
  }, [path])
  return url
}

/** Saves bytes as a file of the browser. */
export function save(blob, name) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** The screen: a heading, which gets the focus when the screen opens, and actions. */
export function Screen({ title, trail, count, actions, children, tags }) {
  const ref = useRef()
  useLayoutEffect(() => {
    if (!ref.current.closest('main').contains(document.activeElement)) ref.current.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [])
  useEffect(() => { document.title = `${title} · ${document.documentElement.dataset.name}` }, [title])
  return html`<article class="screen">
    <header>
      <div class="heading">
        ${trail && html`<p class="trail">${trail}</p>`}
        <h1 tabindex="-1" ref=${ref}><bdi>${title}</bdi></h1>${count}${tags}
      </div>
      <div class="actions">${actions}</div>
    </header>
    ${children}
  </article>`
}

/** Returns whether the event has a key that is typed into a field. */
export const typing = ({ target }) => Boolean(target.closest?.('input:not([type=checkbox], [type=radio], [type=file]), textarea, select, dialog, [contenteditable]'))
