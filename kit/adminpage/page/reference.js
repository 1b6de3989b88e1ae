// References: shown and chosen by the title of their record, never by an ID alone.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { call } from './session.js'
import { html } from './ui.js'
import { labelOf, shortId } from './document.js'
import { api, hrefOf } from './router.js'

const cache = new Map()

/** Resolves to the record with the ID, null if there is none. */
export function fetchRecord(resource, id) {
  const key = `${resource.name} ${id}`
  if (!cache.has(key)) {
    if (cache.size > 2000) cache.clear()
    const found = call('GET', `${resource.path}/${encodeURIComponent(id)}`).catch((problem) => {
      if (problem.status === 404) return null
      cache.delete(key)
      throw problem
    })
    cache.set(key, found)
  }
  return cache.get(key)
}

/** Forgets the titles, which have changed. */
export const forgetRecords = () => cache.clear()

/** Shows a reference. record is the expanded record, undefined if it must be loaded. */
export function Reference({ name, id, record }) {
  const resource = api().byName(name)
  const readable = resource?.get && !resource.parent
  const [found, setFound] = useState(record)
  useEffect(() => {
    if (record !== undefined) return setFound(record)
    let over = false
    setFound(undefined)
    if (readable && id) fetchRecord(resource, id).then((record) => over || setFound(record), () => over || setFound({ id }))
    return () => { over = true }
  }, [id, record])
  if (!id) return html`<span class="none">–</span>`
  if (found === null) return html`<span class="none" title=${id}>deleted ${shortId(id)}</span>`
  const label = found || !readable ? labelOf(resource, found ?? { id }) : '…' // until it is loaded
  if (!readable) return html`<bdi title=${id}>${label}</bdi>`
  return html`<a href=${hrefOf(`${resource.path}/${id}`)} title=${id}><bdi>${label}</bdi></a>`
}

/** What tells records of the same title apart. */
function detailOf(resource, record) {
  const field = resource.fields.find((field) => field.schema.format === 'email') ?? resource.fields.find((field) => field.type === 'string' && ![resource.title, 'id'].includes(field.name))
  return [record[field?.name], shortId(record.id)].filter(Boolean).join(' · ').slice(0, 120)
}

/** Lists records for a picker: at most 20, whatever the size of the collection. */
async function find(resource, text, signal) {
  if (/^[0-9a-f]{24}$/.test(text) && resource.get) return call('GET', `${resource.path}/${text}`, { signal }).then((record) => [record])
  if (!resource.list || resource.parent) return []
  const query = { limit: 20, count: false }
  if (resource.search) query.q = text || undefined
  if (!text && resource.sorts.includes(resource.title)) query.sort = resource.title
  return (await call('GET', resource.path, { query, signal })).rows
}

/** Chooses a record by a search of its title. onChange gets the ID, and the record. */
export function Picker({ name, value, onChange, id, describedby, invalid, clearable, label }) {
  const resource = api().byName(name)
  const [text, setText] = useState()
  const [rows, setRows] = useState([])
  const [active, setActive] = useState(0)
  const [failed, setFailed] = useState()
  const [chosen, setChosen] = useState()
  const input = useRef(), list = useId()
  useEffect(() => {
    let over = false
    if (!value) setChosen(undefined)
    else if (resource?.get && !resource.parent) fetchRecord(resource, value).then((record) => over || setChosen(record ? labelOf(resource, record) : `deleted ${shortId(value)}`), () => {})
    return () => { over = true }
  }, [value])
  useEffect(() => {
    if (text === undefined) return undefined
    const stop = new AbortController()
    const timer = setTimeout(() => {
      find(resource, text.trim(), stop.signal).then((rows) => { setRows(rows); setActive(0); setFailed(undefined) },
        (problem) => stop.signal.aborted || (setRows([]), setFailed(problem.status === 404 ? undefined : problem.detail)))
    }, text ? 200 : 0)
    return () => { clearTimeout(timer); stop.abort() }
  }, [text])
  if (!resource || resource.parent) {
    return html`<input id=${id} aria-describedby=${describedby} aria-invalid=${invalid} value=${value ?? ''} spellcheck="false" placeholder="ID" onInput=${(event) => onChange(event.target.value)} />`
  }
  const open = text !== undefined
  const choose = (record) => {
    cache.set(`${resource.name} ${record.id}`, Promise.resolve(record))
    setText(undefined)
    onChange(record.id, record)
  }
  const keys = (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (!open) setText('')
      else setActive((active + (event.key === 'ArrowDown' ? 1 : -1) + rows.length) % (rows.length || 1))
    } else if (event.key === 'Enter' && open) {
      event.preventDefault()
      if (rows[active]) choose(rows[active])
    } else if (event.key === 'Escape' && open) {
      event.preventDefault()
      event.stopPropagation()
      setText(undefined)
    }
  }
  return html`<div class="picker">
    <input ref=${input} id=${id} role="combobox" aria-expanded=${open} aria-controls=${list} aria-autocomplete="list" autocomplete="off" dir="auto" aria-label=${label}
      aria-activedescendant=${open && rows[active] ? `${list}-${active}` : undefined} aria-describedby=${describedby} aria-invalid=${invalid}
      placeholder=${`Search ${resource.label.toLowerCase()}`} value=${open ? text : chosen ?? (value ? shortId(value) : '')}
      onFocus=${(event) => event.target.select()} onClick=${() => open || setText('')} onInput=${(event) => setText(event.target.value)}
      onBlur=${() => setText(undefined)} onKeyDown=${keys} />
    ${clearable && value && html`<button type="button" class="quiet icon" aria-label="Clear" onClick=${() => { onChange(undefined); input.current.focus() }}>✕</button>`}
    <ul id=${list} role="listbox" aria-label=${resource.label} hidden=${!open}>
      ${open && rows.map((record, i) => html`<li key=${record.id} id=${`${list}-${i}`} role="option" aria-selected=${i === active}
        onPointerDown=${(event) => { event.preventDefault(); choose(record) }}><bdi>${labelOf(resource, record)}</bdi><small><bdi>${detailOf(resource, record)}</bdi></small></li>`)}
      ${open && !rows.length && html`<li class="none" role="option" aria-selected="false" aria-disabled="true">${failed ?? (text ? 'Nothing found' : 'Type to search')}</li>`}
    </ul>
  </div>`
}
