// Shows and edits the value of a field, by its type.

import { useId, useState } from 'preact/hooks'
import { formatDate, formatNumber, formatSize, html, offsetAt, Time, zone } from './ui.js'
import { emptyValue, humanize, resolve, typeOf } from './document.js'
import { Picker, Reference } from './reference.js'

const none = html`<span class="none">–</span>`
const short = (text, length = 160) => (text.length > length ? `${text.slice(0, length)}…` : text)

/** Returns the beginning of the JSON of a value. A huge value is not converted as a whole. */
export function briefJSON(value, length = 160) {
  const seen = Array.isArray(value) ? value.slice(0, 20) : Object.fromEntries(Object.entries(value).slice(0, 20))
  return short(JSON.stringify(seen, (_, item) => (typeof item === 'string' ? short(item, length) : Array.isArray(item) ? item.slice(0, 20) : item)), length)
}

/** Reports whether a value is a link that a browser may open: javascript: and data: are none. */
const isLink = (value) => /^https?:\/\//i.test(value)

/** Shows a value of a record: its beginning, or all of it if full is set. */
export function Cell({ field, record, full }) {
  const cut = full ? (text) => text : short
  const value = record[field.name]
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length)) return none
  switch (field.type) {
    case 'reference': return html`<${Reference} name=${field.reference} id=${value} record=${record.expand?.[field.name]} />`
    case 'references': return (full ? value : value.slice(0, 3)).map((id, i) => html`${i > 0 && ', '}<${Reference} key=${id} name=${field.reference} id=${id} record=${record.expand?.[field.name]?.[i]} />`)
    case 'boolean': return value ? 'Yes' : 'No'
    case 'enum': return html`<span class="tag">${value}</span>`
    case 'time': return html`<${Time} value=${value} />`
    case 'date': return html`<span class="number">${formatDate(value)}</span>`
    case 'number': return typeof value === 'number' && Number.isSafeInteger(value) ? formatNumber(value) : String(value)
    case 'file': return html`<bdi>${cut(value.name, 40)}</bdi> <small>${formatSize(value.size)}</small>`
    case 'files': return `${value.length} ${value.length === 1 ? 'file' : 'files'}`
    case 'list': return html`<bdi>${cut((full ? value : value.slice(0, 20)).join(', '))}</bdi>`
    case 'object': case 'map': case 'json': return html`<code dir="ltr">${full ? JSON.stringify(value, null, 2) : briefJSON(value)}</code>`
    case 'url': return isLink(value) ? html`<a href=${value} target="_blank" rel="noopener noreferrer"><bdi>${cut(value, 60)}</bdi></a>` : html`<bdi>${cut(value)}</bdi>`
    default: return html`<bdi>${cut(String(value))}</bdi>`
  }
}

/** The text of an input that is no value of the field. */
export class Invalid {
  constructor(text, message) {
    Object.assign(this, { text, message })
  }

  toJSON() {
    return { 'invalid text': this.text, message: this.message }
  }
}

/** A reviver of JSON.parse for drafts, which may have invalid texts. */
export const readInvalid = (_, value) => (typeof value?.['invalid text'] === 'string' ? new Invalid(value['invalid text'], value.message) : value)

/** Returns the fields with invalid texts in the values of a form. Objects have them as properties. */
export const invalidOf = (edits) => Object.entries(edits).filter(([, value]) => value instanceof Invalid || (typeof value === 'object' && Object.values(value ?? {}).some((item) => item instanceof Invalid)))

/** Returns the time in the form of datetime-local. */
function toLocal(value) {
  const time = new Date(value)
  if (Number.isNaN(+time)) return ''
  return new Date(+time - time.getTimezoneOffset() * 60_000).toISOString().slice(0, -1).replace(/:00\.000$|\.000$/, '')
}

function TimeInput({ value, onChange, ...rest }) {
  const change = (event) => onChange(event.target.value ? new Date(event.target.value).toISOString() : undefined)
  return html`<span class="beside"><input type="datetime-local" step="any" value=${value ? toLocal(value) : ''} onInput=${change} ...${rest} />
    <small title=${zone}>${zone} (${offsetAt(new Date(value))})</small></span>`
}

/** The text of a control while the admin writes it: another form of the value must not replace it. */
function useText(shown, onText) {
  const [text, setText] = useState()
  return { value: text ?? shown, onInput: (event) => { setText(event.target.value); onText(event.target.value) }, onBlur: () => setText(undefined) }
}

function NumberInput({ schema, value, onChange, ...rest }) {
  const text = useText(value ?? '', (text) => {
    const number = Number(text)
    // Decimals are strings. The service rejects what is no number.
    onChange(text.trim() === '' ? undefined : schema.format === 'decimal' || !Number.isFinite(number) ? text.trim() : number)
  })
  return html`<input inputmode="decimal" autocomplete="off" class="number short" ...${text} ...${rest} />`
}

/** Edits a value that is written as text: parse throws if the text is no value. */
function TextValue({ value, onChange, format, parse, message, rows = 4, ...rest }) {
  const text = useText(value instanceof Invalid ? value.text : format(value), (text) => {
    try {
      onChange(parse(text))
    } catch {
      onChange(new Invalid(text, message))
    }
  })
  return html`<textarea rows=${rows} spellcheck="false" class="code" dir="auto" ...${text} ...${rest} />`
}

const linesOf = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean)

function JSONInput({ value, onChange, ...rest }) {
  const text = value === undefined || value === null || value instanceof Invalid ? '' : JSON.stringify(value, null, 2)
  return html`<${TextValue} value=${value} format=${() => text} parse=${(text) => (text.trim() ? JSON.parse(text) : undefined)} message="This is not valid JSON." onChange=${onChange} ...${rest} />`
}

const formatMap = (value) => Object.entries(value ?? {}).map(([key, item]) => `${key}=${item}`).join('\n')
function parseMap(text) {
  const pairs = linesOf(text).map((line) => line.match(/^([^=]+)=(.*)$/))
  if (pairs.includes(null)) throw new Error('a line without =')
  return pairs.length ? Object.fromEntries(pairs.map(([, key, value]) => [key.trim(), value.trim()])) : undefined
}

function ListInput({ schema, value, onChange, ...rest }) {
  const items = resolve(schema.items)
  if (items.enum) {
    const toggle = (item) => onChange(value?.includes(item) ? value.filter((other) => other !== item) : [...(value ?? []), item])
    return html`<div class="checks" role="group" aria-label=${rest['aria-label']}>${items.enum.map((item, i) =>
      html`<label key=${item}><input type="checkbox" id=${i ? undefined : rest.id} checked=${value?.includes(item) ?? false} onChange=${() => toggle(item)} /> ${item}</label>`)}</div>`
  }
  const parse = (text) => {
    const lines = linesOf(text)
    if (items.type === 'integer' || items.type === 'number') return lines.map((line) => (Number.isFinite(Number(line)) ? Number(line) : line))
    return lines
  }
  return html`<${TextValue} value=${value} rows=${Math.min(8, Math.max(2, value?.length ?? 0))} format=${(value) => (value ?? []).join('\n')} parse=${parse} onChange=${onChange} ...${rest} />`
}

function ReferencesInput({ field, value, onChange, ...rest }) {
  const ids = value ?? []
  return html`<div>
    ${ids.length > 0 && html`<ul class="chips">${ids.map((id) => html`<li key=${id}><${Reference} name=${field.reference} id=${id} />
      <button type="button" class="quiet icon" aria-label="Remove" onClick=${() => onChange(ids.filter((other) => other !== id))}>✕</button></li>`)}</ul>`}
    <${Picker} name=${field.reference} value=${undefined} onChange=${(id) => id && !ids.includes(id) && onChange([...ids, id])} id=${rest.id} describedby=${rest['aria-describedby']} invalid=${rest['aria-invalid']} />
  </div>`
}

function ObjectInput({ schema, value, onChange, id }) {
  const change = (name, item) => {
    const next = { ...value, [name]: item }
    if (item === undefined) delete next[name]
    onChange(Object.keys(next).length ? next : undefined)
  }
  return html`<fieldset id=${id} tabindex="-1">${Object.entries(schema.properties).map(([name, item]) => {
    const resolved = resolve(item)
    const field = { name, schema: resolved, type: typeOf(resolved), label: humanize(name), reference: resolved['x-reference'] }
    return html`<${Labelled} key=${name} field=${field} value=${value?.[name]} onChange=${(item) => change(name, item)} />`
  })}</fieldset>`
}

/** The control of a field. value undefined is an empty one. */
export function Input({ field, value, onChange, ...rest }) {
  const { schema } = field
  const text = (type, more) => html`<input type=${type} value=${value ?? ''} dir="auto" onInput=${(event) => onChange(event.target.value === '' ? undefined : event.target.value)} ...${more} ...${rest} />`
  switch (field.type) {
    case 'boolean':
      if ((schema.nullable && !field.set) || field.optional) {
        return html`<select value=${value === undefined || value === null ? '' : String(value)} onChange=${(event) => onChange(event.target.value === '' ? undefined : event.target.value === 'true')} ...${rest}>
          <option value="">–</option><option value="true">Yes</option><option value="false">No</option></select>`
      }
      return html`<label class="check"><input type="checkbox" checked=${Boolean(value)} onChange=${(event) => onChange(event.target.checked)} ...${rest} /> Yes</label>`
    case 'enum':
      return html`<select value=${value ?? ''} onChange=${(event) => onChange(event.target.value === '' ? undefined : event.target.value)} ...${rest}>
        ${(!(field.required || field.set) || value === undefined || value === null) && html`<option value="">–</option>`}
        ${schema.enum.filter((item) => item !== null).map((item) => html`<option key=${item} value=${item}>${item}</option>`)}</select>`
    case 'reference': return html`<${Picker} name=${field.reference} value=${value} onChange=${onChange} id=${rest.id} describedby=${rest['aria-describedby']} invalid=${rest['aria-invalid']} clearable=${!field.required && !field.set} label=${rest['aria-label']} />`
    case 'references': return html`<${ReferencesInput} field=${field} value=${value} onChange=${onChange} ...${rest} />`
    case 'number': return html`<${NumberInput} schema=${schema} value=${value} onChange=${onChange} ...${rest} />`
    case 'time': return html`<${TimeInput} value=${value} onChange=${onChange} ...${rest} />`
    case 'date': return text('date', { class: 'short' })
    case 'password': return text('password', { autocomplete: field.name === 'masterKey' ? 'off' : 'new-password' })
    case 'url': return text('url', { spellcheck: false })
    case 'text':
      return html`<textarea rows="6" dir="auto" onInput=${(event) => onChange(event.target.value === '' ? undefined : event.target.value)} value=${value ?? ''} ...${rest} />`
    case 'list': return html`<${ListInput} schema=${schema} value=${value} onChange=${onChange} ...${rest} />`
    case 'map': return html`<${TextValue} value=${value} format=${formatMap} parse=${parseMap} message="Each line must be name=value." onChange=${onChange} ...${rest} />`
    case 'object': return html`<${ObjectInput} schema=${schema} value=${value} onChange=${onChange} id=${rest.id} />`
    case 'json': return html`<${JSONInput} value=${value} onChange=${onChange} ...${rest} />`
    default: return text(schema.format === 'email' ? 'email' : 'text', { autocomplete: 'off' })
  }
}

/** Returns what a field accepts, as a sentence. */
function hintOf({ type, schema }) {
  const text = /^IDs? of /.test(schema.description) ? undefined : schema.description // references are not entered as IDs
  const parts = [text && text[0].toUpperCase() + text.slice(1)]
  if (type === 'list' && !resolve(schema.items).enum) parts.push('One per line')
  if (type === 'json') parts.push('JSON')
  if (type === 'map') parts.push('One name=value per line')
  if (schema.minimum !== undefined && schema.maximum !== undefined) parts.push(`${formatNumber(schema.minimum)} to ${formatNumber(schema.maximum)}`)
  return parts.filter(Boolean).map((part) => part.replace(/\.$/, '')).join('. ')
}

/** A field of a form: label, control, hint and errors. problem is that of the last request; a change hides its errors. */
export function Labelled({ field, value, onChange, errors, problem, changed }) {
  const id = useId()
  const [hidden, setHidden] = useState()
  const [left, setLeft] = useState(false)
  const hint = hintOf(field)
  const length = typeof value === 'string' && field.schema.maxLength && value.length > field.schema.maxLength * 0.9
  const invalid = value instanceof Invalid
  const messages = invalid ? (left ? [value.message] : []) : problem && hidden === problem ? [] : errors ?? []
  const described = [hint && `${id}-hint`, messages.length && `${id}-error`].filter(Boolean).join(' ') || undefined
  const change = (value, ...rest) => {
    setHidden(problem)
    if (!(value instanceof Invalid)) setLeft(false)
    onChange(value, ...rest)
  }
  return html`<div class=${`field ${field.type}${changed ? ' changed' : ''}`} data-field=${field.name} onFocusOut=${() => setLeft(true)}>
    <label for=${id}>${field.label}${field.required && html`<span class="required" title="required" aria-hidden="true">*</span>`}</label>
    <div class="control">
      <${Input} field=${field} value=${value} onChange=${change} id=${id} aria-describedby=${described} aria-invalid=${invalid || messages.length ? 'true' : undefined} aria-required=${field.required ? 'true' : undefined} />
      ${messages.length > 0 && html`<p class="error" id=${`${id}-error`}>${messages.join(' ')}</p>`}
      ${(hint || length) && html`<p class="hint" id=${`${id}-hint`}>${hint}${length && ` ${formatNumber(value.length)} of ${formatNumber(field.schema.maxLength)} characters`}</p>`}
    </div>
  </div>`
}

/** Returns the value of a field for the body of a request. */
export const valueFor = (field, value) => (value === undefined ? emptyValue(field.changes?.type ? field.changes : field.schema) : value)

/** Returns the errors of a problem by field, and those of no field. */
export function errorsOf(problem, names) {
  const byField = {}, rest = []
  for (const [param, list] of Object.entries(problem?.errors ?? {})) {
    const name = param.split(/[.[]/)[0]
    const messages = list.map((error) => error.message)
    if (names.includes(name)) byField[name] = [...(byField[name] ?? []), ...messages]
    else rest.push(...messages.map((message) => `${param}: ${message}`))
  }
  return { byField, rest }
}

/** Returns what is shown above a form: the problem, without the errors that are shown at the fields with the names. */
export function summaryOf(problem, names) {
  if (!problem) return undefined
  const { byField, rest } = errorsOf(problem, names)
  const detail = Object.keys(byField).length ? 'Correct the fields that are marked.' : problem.detail
  return { detail: [detail, ...rest].join(' '), status: problem.status, requestId: problem.requestId }
}

/** Sets the focus on the first field with an error. */
export const focusError = () => requestAnimationFrame(() => document.querySelector('[aria-invalid=true]')?.focus())
