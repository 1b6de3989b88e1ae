// The list of a resource: search, filters, sorting, columns, pages, selection. Its state is in the address.

import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from './session.js'
import { formatNumber, html, Empty, Failure, Late, Loading, Menu, Screen, typing, useEvent, useLoad, zone } from './ui.js'
import { humanize, labelOf, newField } from './document.js'
import { Cell, Input } from './fields.js'
import { Reference } from './reference.js'
import { go, hrefOf, lists } from './router.js'
import { isTrashed, onTrash } from './trash.js'
import { BulkBar } from './bulk.js'
import { ExportMenu } from './export.js'
import { useLiveRows } from './live.js'

const LIMIT = 50
const own = ['q', 'sort', 'after', 'from', 'columns'] // parameters of the page; all others are filters

const operators = {
  eq: 'is', ne: 'is not', in: 'is one of', gte: 'from', lte: 'up to', gt: 'more than', lt: 'less than',
}
const timeOperators = { ...operators, gte: 'since', lte: 'until', gt: 'after', lt: 'before' }
const operatorLabel = (field, operator) => (/time|date/.test(field.type) ? timeOperators : operators)[operator] ?? operator

/** Returns the fields that are columns without a choice: the title, and short values. */
export function defaultColumns(resource) {
  const usable = resource.fields.filter((field) => field.inList && field.name !== 'id')
  const short = usable.filter((field) => !['text', 'json', 'object', 'map', 'files'].includes(field.type))
  const title = usable.find((field) => field.name === resource.title)
  const telling = (field) => ['enum', 'reference', 'boolean'].includes(field.type)
  const others = short.filter((field) => field !== title && !['createdAt', 'updatedAt', 'userId'].includes(field.name))
  const best = [...others].sort((a, b) => telling(b) - telling(a)).slice(0, 5)
  const rest = others.filter((field) => best.includes(field))
  const time = short.find((field) => field.name === 'updatedAt') ?? short.find((field) => field.name === 'createdAt')
  return [title, ...rest, time].filter(Boolean).map((field) => field.name)
}

/** Returns the columns: of the address, those that the admin chose last, or the default. */
function chosenColumns(resource, query) {
  const names = query.get('columns') ?? localStorage.getItem(`columns of ${resource.path}`)
  const known = names?.split(',').filter((name) => resource.fields.some((field) => field.name === name && field.inList)) ?? []
  return known.length ? known : defaultColumns(resource)
}

/** Returns the filters in the address that the list has. */
export const filtersOf = (resource, query) => [...query].filter(([name]) => !own.includes(name) && Object.hasOwn(resource.parameters, name) && Object.hasOwn(resource.filters, name.split('[')[0]))

/** Returns the query of the API for the state. */
export function queryOf(resource, query, columns) {
  const out = {}
  for (const name of ['q', 'sort']) if (query.get(name) && name in resource.parameters) out[name] = query.get(name)
  for (const [name, value] of filtersOf(resource, query)) out[name] = name.endsWith('[in]') ? value.split(',') : value
  if (columns && resource.parameters.fields) out.fields = [...new Set([...columns, resource.title].filter(Boolean))]
  const expand = resource.expands.filter((name) => columns?.includes(name))
  if (expand.length) out.expand = expand
  return out
}

function FilterValue({ field, value }) {
  if (field.type === 'reference') return html`<${Reference} name=${field.reference} id=${value} />`
  return html`<${Cell} field=${{ ...field, type: field.type === 'boolean' ? 'string' : field.type }} record=${{ [field.name]: field.type === 'boolean' ? { true: 'yes', false: 'no' }[value] : value }} />`
}

/** The form of a new filter. */
function NewFilter({ resource, fields, onAdd }) {
  const [name, setName] = useState(fields[0].name)
  const [operator, setOperator] = useState('eq')
  const [value, setValue] = useState()
  const field = fields.find((field) => field.name === name)
  const available = resource.filters[name].operators
  const chosen = available.includes(operator) ? operator : available[0]
  const input = chosen === 'in' && !field.schema.enum ? { ...field, type: 'string', schema: { type: 'string', description: 'Separate values with commas' } }
    : chosen === 'in' ? { ...field, type: 'list', schema: { type: 'array', items: field.schema } } : { ...field, optional: true, required: true }
  const submit = (event) => {
    event.preventDefault()
    document.activeElement.blur()
    setValue((value) => {
      if (value !== undefined && value !== '' && value.length !== 0) onAdd(chosen === 'eq' ? name : `${name}[${chosen}]`, String(value))
      return undefined
    })
  }
  return html`<form class="filter" onSubmit=${submit}>
    <label>Field<select value=${name} onChange=${(event) => { setName(event.target.value); setValue(undefined) }}>
      ${fields.map((field) => html`<option key=${field.name} value=${field.name}>${field.label}</option>`)}</select></label>
    <label>Condition<select value=${chosen} onChange=${(event) => { setOperator(event.target.value); setValue(undefined) }}>
      ${available.map((item) => html`<option key=${item} value=${item}>${operatorLabel(field, item)}</option>`)}</select></label>
    <div class="control"><${Input} key=${`${name} ${chosen}`} field=${input} value=${value} onChange=${setValue} aria-label="Value" /></div>
    <button class="main">Add filter</button>
  </form>`
}

/** The fields with filters. */
export function filterFields(resource) {
  return Object.entries(resource.filters).map(([name, { schema }]) => {
    const known = resource.fields.find((field) => field.name === name)
    const scalar = known && ['list', 'references'].includes(known.type)
    const field = newField(name, schema ?? {}, { label: known?.label ?? humanize(name) })
    if (known?.reference) Object.assign(field, { type: 'reference', reference: known.reference })
    return scalar && !known.reference ? { ...field, label: `${field.label} (contains)` } : field
  })
}

function ColumnMenu({ resource, columns, setColumns }) {
  const fields = resource.fields.filter((field) => field.inList)
  const toggle = (name) => setColumns(columns.includes(name) ? columns.filter((other) => other !== name) : fields.map((field) => field.name).filter((other) => other === name || columns.includes(other)))
  return html`<${Menu} label="Columns" align="end"><fieldset class="checks"><legend>Columns</legend>
    ${fields.map((field) => html`<label key=${field.name}><input type="checkbox" checked=${columns.includes(field.name)}
      disabled=${columns.length === 1 && columns[0] === field.name} onChange=${() => toggle(field.name)} /> ${field.label}</label>`)}
  </fieldset><button type="button" onClick=${() => setColumns(undefined)}>Default columns</button></${Menu}>`
}

const totals = new Map() // counts by query, so that each further page needs no count

function Heading({ field, sort, onSort }) {
  const number = field.type === 'number'
  if (!field.sorts) return html`<th scope="col" class=${number ? 'end' : ''}>${field.label}</th>`
  const direction = sort === field.name ? 'ascending' : sort === `-${field.name}` ? 'descending' : undefined
  const next = direction === 'ascending' ? `-${field.name}` : direction === 'descending' ? undefined : field.name
  return html`<th scope="col" class=${number ? 'end' : ''} aria-sort=${direction}>
    <button type="button" class="sort" onClick=${() => onSort(next)}>${field.label}<span aria-hidden="true">${{ ascending: ' ↑', descending: ' ↓' }[direction] ?? ''}</span></button></th>`
}

export function ListScreen({ resource, path, query, trail, extra }) {
  const columns = chosenColumns(resource, query)
  const fields = columns.map((name) => resource.fields.find((field) => field.name === name))
  const filters = filtersOf(resource, query)
  const known = filterFields(resource)
  const base = queryOf(resource, query, columns)
  const after = query.get('after') ?? undefined, from = Number(query.get('from') ?? 1)
  const key = JSON.stringify([path, { ...base, fields: undefined, expand: undefined, sort: undefined }])
  const list = useLoad((signal) => call('GET', path, {
    query: { ...base, after, limit: LIMIT, ...(resource.parameters.etags && { etags: true }), ...(after && totals.has(key) && { count: false }) }, signal,
  }).then((page) => {
    if (page.count !== undefined) totals.set(key, page)
    lists.set(path, { ids: page.rows.map((row) => row.id), query: new URLSearchParams(query) })
    return page
  }), [path, `${query}`, columns.join()])
  const [selected, setSelected] = useState(new Map())
  useEffect(() => setSelected(new Map()), [key, base.sort, after]) // no record is changed that is not visible
  const [, redraw] = useState(0)
  const search = useRef()
  useEffect(() => onTrash((deleted) => {
    redraw((n) => n + 1)
    if (!deleted) return
    list.setData((page) => page && { ...page, rows: page.rows.filter((row) => `${path}/${row.id}` !== deleted) })
    const total = totals.get(key)
    if (total && lists.get(path)?.ids.some((id) => `${path}/${id}` === deleted)) totals.set(key, { ...total, count: total.count - 1 })
    list.reload()
  }), [key])
  useEvent('keydown', (event) => {
    if (event.key === '/' && !typing(event) && search.current) {
      event.preventDefault()
      search.current.focus()
    }
  })
  const live = useLiveRows(resource, path, list)
  const change = (changes) => {
    const next = new URLSearchParams(query)
    for (const name of ['after', 'from']) next.delete(name)
    for (const [name, value] of Object.entries(changes)) value === undefined || value === '' ? next.delete(name) : next.set(name, value)
    go(path, next)
  }
  const setColumns = (names) => {
    if (names) localStorage.setItem(`columns of ${resource.path}`, names)
    else localStorage.removeItem(`columns of ${resource.path}`)
    const next = new URLSearchParams(query)
    next.delete('columns')
    if (names) next.set('columns', names)
    go(path, next, { replace: true })
    redraw((n) => n + 1)
  }
  const rows = (list.data?.rows ?? []).filter((row) => !isTrashed(`${path}/${row.id}`))
  const total = totals.get(key)
  const selectable = Boolean(resource.remove ?? resource.change)
  const toggle = (row) => setSelected((before) => {
    const next = new Map(before)
    if (!next.delete(row.id)) next.set(row.id, row)
    return next
  })
  const all = rows.length > 0 && rows.every((row) => selected.has(row.id))
  const toggleAll = () => setSelected((before) => {
    const next = new Map(before)
    for (const row of rows) all ? next.delete(row.id) : next.set(row.id, row)
    return next
  })
  const narrowed = filters.length > 0 || Boolean(query.get('q'))
  const countText = total && (total.countCapped ? `more than ${formatNumber(total.count)}` : formatNumber(total.count - (list.data?.rows.length ?? 0) + rows.length)) // without deletions that wait
  const submit = (event) => {
    event.preventDefault()
    change({ q: search.current.value })
  }
  const opens = Boolean(resource.get ?? resource.change)
  return html`<${Screen} title=${resource.label} trail=${trail} count=${total && html`<span class="count number">${countText}</span>`} actions=${html`
      ${extra}
      ${resource.parameters.format && html`<${ExportMenu} resource=${resource} path=${path} query=${queryOf(resource, query, columns)} total=${total} />`}
      ${resource.create && html`<a class="button main" href=${hrefOf(`${path}/new`)}>New ${resource.recordLabel}</a>`}`}>
    <div class="tools" role="search">
      ${resource.search && html`<form onSubmit=${submit} class="search"><input ref=${search} type="search" aria-label=${`Search ${resource.label.toLowerCase()}`} key=${query.get('q')}
        placeholder="Search" title=${resource.search} defaultValue=${query.get('q') ?? ''} maxlength="200" aria-keyshortcuts="/" /><kbd aria-hidden="true">/</kbd></form>`}
      ${known.length > 0 && html`<${Menu} label="Filter">${(close) => html`<${NewFilter} resource=${resource} fields=${known} onAdd=${(name, value) => { close(); change({ [name]: value }) }} />`}</${Menu}>`}
      <ul class="chips" aria-label="Filters">${filters.map(([name, value]) => {
        const [, fieldName, operator = 'eq'] = name.match(/^(\w+)(?:\[(\w+)\])?$/)
        const field = known.find((field) => field.name === fieldName)
        return html`<li key=${name}><span>${field.label} ${operatorLabel(field, operator)} <b><${FilterValue} field=${operator === 'in' ? { ...field, type: 'string' } : field} value=${value} /></b></span>
          <button type="button" class="quiet icon" aria-label=${`Remove the filter ${field.label}`} onClick=${() => change({ [name]: undefined })}>✕</button></li>`
      })}</ul>
      <${Late} on=${list.data && list.loading} />
      <span class="space"></span>
      <${ColumnMenu} resource=${resource} columns=${columns} setColumns=${setColumns} />
    </div>
    <${Failure} error=${list.error} retry=${list.reload} />
    ${live.fresh > 0 && html`<button type="button" class="fresh" onClick=${live.show}>${live.fresh === 1 ? '1 new record' : `${live.fresh} new records`}. Show</button>`}
    ${!list.data && list.loading && html`<${Loading} />`}
    ${list.data && rows.length === 0 && html`<${Empty}>${narrowed
      ? html`<p>No ${resource.recordLabel} matches.</p><button type="button" onClick=${() => go(path, {})}>Show all</button>`
      : html`<p>There is no ${resource.recordLabel} yet.</p>${resource.create && html`<a class="button main" href=${hrefOf(`${path}/new`)}>Create the first ${resource.recordLabel}</a>`}`}</${Empty}>`}
    ${rows.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label=${resource.label} aria-busy=${list.loading}><table class="rows">
      <caption class="hidden">${resource.label}</caption>
      <thead><tr>
        ${selectable && html`<th class="select" scope="col"><input type="checkbox" aria-label="Select all rows of this page" checked=${all} onChange=${toggleAll} /></th>`}
        ${fields.map((field) => html`<${Heading} key=${field.name} field=${field} sort=${query.get('sort')} onSort=${(sort) => change({ sort })} />`)}
      </tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${row.id} class=${live.changed.has(row.id) ? 'live' : ''}>
        ${selectable && html`<td class="select"><input type="checkbox" aria-label=${`Select ${labelOf(resource, row)}`} checked=${selected.has(row.id)} onChange=${() => toggle(row)} /></td>`}
        ${fields.map((field, i) => html`<td key=${field.name} data-label=${field.label} class=${field.type === 'number' ? 'end number' : ''}>
          ${i === 0 && opens && !field.reference ? html`<a class="open" href=${hrefOf(`${path}/${row.id}`)}><${Cell} field=${{ ...field, type: field.type === 'url' ? 'string' : field.type }} record=${row} /></a>`
            : html`${i === 0 && opens && html`<a class="open" href=${hrefOf(`${path}/${row.id}`)}>Open</a> `}<${Cell} field=${field} record=${row} />`}</td>`)}
      </tr>`)}</tbody>
    </table></div>
    <nav class="pages" aria-label="Pages"><span class="number">${formatNumber(from)}–${formatNumber(from + rows.length - 1)}${countText && ` of ${countText}`}</span>
      <small>Times in ${zone}</small><span class="space"></span>
      ${after && html`<a class="button" href=${hrefOf(path, (() => { const next = new URLSearchParams(query); next.delete('after'); next.delete('from'); return next })())}>First page</a>
        <button type="button" onClick=${() => history.back()}>Back</button>`}
      ${list.data.next && html`<a class="button" rel="next" href=${hrefOf(path, (() => { const next = new URLSearchParams(query); next.set('after', list.data.next); next.set('from', from + list.data.rows.length); return next })())}>Next page</a>`}
    </nav>`}
    ${selected.size > 0 && html`<${BulkBar} resource=${resource} path=${path} rows=${[...selected.values()].map((row) => list.data?.rows.find((other) => other.id === row.id) ?? row)}
      select=${(rows) => setSelected(new Map(rows.map((row) => [row.id, row])))} reload=${list.reload} />`}
  </${Screen}>`
}
