// Changes of several records: in batches where the service can, else one by one, with progress and a list of failures.

import { useRef, useState } from 'preact/hooks'
import { call, newKey } from './session.js'
import { Dialog, html, plural } from './ui.js'
import { labelOf } from './document.js'
import { focusError, invalidOf, Labelled, valueFor } from './fields.js'

const SIZE = 100

/** A replacer of JSON.stringify for the body of an operation: a string that begins with $ is not a reference. */
const escaped = (_, value) => (typeof value === 'string' && value.startsWith('$') ? `$${value}` : value)

/** Reports whether all further requests fail until the admin signs in. */
const needsSignIn = (problem) => problem.status === 401 || problem.code === 'reauthentication_required'

/** Runs an operation for each row, from the function of a row, and adds those that fail to failures. stop.now ends it. */
async function run(rows, operationOf, batched, stop, failures, onDone) {
  let batch = batched
  for (let i = 0; i < rows.length && !stop.now;) {
    if (batch && rows.length > 1) {
      const part = rows.slice(i, i + SIZE)
      const operations = part.map(operationOf).map(({ etag, body, ...operation }) => ({ ...operation, ifMatch: etag, body: body && JSON.parse(JSON.stringify(body, escaped)) }))
      try {
        await call('POST', '/batch', { body: { operations }, key: newKey() })
        i += part.length
        onDone(i)
        continue
      } catch (problem) {
        if (needsSignIn(problem) || problem.status === 0 || problem.status >= 500 && problem.status !== 501) throw problem
        batch = problem.status !== 501 // without transactions, no batch is possible
        // One operation failed, so the batch changed nothing: its rows follow one by one.
        for (const row of part) {
          if (stop.now) return
          await one(row, operationOf, failures)
          onDone(++i)
        }
        continue
      }
    }
    await one(rows[i], operationOf, failures)
    onDone(++i)
  }
}

async function one(row, operationOf, failures) {
  const { method, path, body, etag } = operationOf(row)
  try {
    await call(method, path, { body, etag })
  } catch (problem) {
    if (needsSignIn(problem) || problem.status === 0) throw problem
    if (method === 'DELETE' && problem.status === 404) return
    const errors = Object.values(problem.errors).flat().map((error) => error.message)
    failures.push({ row, text: problem.status === 412 ? 'It was changed in the meantime.' : [problem.detail, ...errors].join(' ') })
  }
}

function ChangeDialog({ resource, count, onClose, onStart }) {
  const fields = resource.fields.filter((field) => field.change && !['file', 'files', 'password'].includes(field.type))
  const [name, setName] = useState(fields[0].name)
  const [value, setValue] = useState()
  const newest = useRef()
  newest.current = value
  const field = fields.find((field) => field.name === name)
  const yesOrNo = field.type === 'boolean' && !field.schema.nullable
  const [missing, setMissing] = useState(false)
  const submit = async (event) => {
    event.preventDefault()
    document.activeElement.blur()
    await new Promise(requestAnimationFrame)
    const text = newest.current
    if ((text === undefined && (field.required || yesOrNo)) || invalidOf({ text }).length) {
      setMissing(true)
      return focusError()
    }
    onStart(field, text)
  }
  return html`<${Dialog} title=${`Change ${plural(count, 'record')}`} onClose=${onClose}><form class="fields" onSubmit=${submit}>
    <div class="field"><label for="bulk-field">Field</label><div class="control"><select id="bulk-field" value=${name} onChange=${(event) => { setName(event.target.value); setValue(undefined); setMissing(false) }}>
      ${fields.map((field) => html`<option key=${field.name} value=${field.name}>${field.label}</option>`)}</select></div></div>
    <${Labelled} key=${name} field=${{ ...field, label: 'New value', optional: true, required: field.required || yesOrNo }} value=${value} onChange=${setValue} errors=${missing ? ['A value is required.'] : undefined} />
    <footer><button type="button" onClick=${onClose}>Cancel</button><button class="main">Change ${plural(count, 'record')}</button></footer>
  </form></${Dialog}>`
}

/** The bar that acts on the selected rows. */
export function BulkBar({ resource, path, rows, select, reload }) {
  const [dialog, setDialog] = useState()
  const [state, setState] = useState()
  const stop = useRef({})
  const start = async (verb, operationOf) => {
    stop.current = { now: false }
    setDialog('progress')
    const failures = []
    setState({ verb, done: 0, failures })
    try {
      await run(rows, operationOf, resource.batch, stop.current, failures, (done) => setState((state) => ({ ...state, done })))
      setState((state) => ({ ...state, over: true, stopped: stop.current.now }))
    } catch (problem) {
      setState((state) => ({ ...state, over: true, problem }))
    }
    reload()
  }
  const remove = () => start('deleted', (row) => ({ method: 'DELETE', path: `${path}/${row.id}`, etag: row.etag }))
  const change = (field, value) => start('changed', (row) => ({ method: 'PATCH', path: `${path}/${row.id}`, etag: row.etag, body: { [field.name]: valueFor(field, value) } }))
  const close = () => {
    setDialog(undefined)
    const open = new Set([...state.failures.map(({ row }) => row.id), ...rows.slice(state.done).map((row) => row.id)])
    select(rows.filter((row) => open.has(row.id)))
  }
  const many = plural(rows.length, 'record')
  return html`<div class="bulk" role="region" aria-label="Selection"><b>${plural(rows.length, 'record')} selected</b>
      ${resource.change && html`<button type="button" onClick=${() => setDialog('change')}>Change…</button>`}
      ${resource.remove && html`<button type="button" class="danger" onClick=${() => setDialog('delete')}>Delete…</button>`}
      <button type="button" class="quiet" onClick=${() => select([])}>Clear selection</button></div>
    ${dialog === 'change' && html`<${ChangeDialog} resource=${resource} count=${rows.length} onClose=${() => setDialog(undefined)} onStart=${change} />`}
    ${dialog === 'delete' && html`<${Dialog} title=${`Delete ${many}?`} onClose=${() => setDialog(undefined)}>
      <p>You cannot undo this. Records that refer to them may be deleted or changed, too.</p>
      <ul class="names">${rows.slice(0, 5).map((row) => html`<li key=${row.id}><bdi>${labelOf(resource, row)}</bdi></li>`)}${rows.length > 5 && html`<li>and ${rows.length - 5} more</li>`}</ul>
      <footer><button type="button" autofocus onClick=${() => setDialog(undefined)}>Cancel</button><button type="button" class="danger" onClick=${remove}>Delete ${many}</button></footer></${Dialog}>`}
    ${dialog === 'progress' && html`<${Dialog} title=${state.over ? `${plural(state.done - state.failures.length, 'record')} ${state.verb}` : 'Working'} onClose=${() => { stop.current.now = true; if (state.over) close() }}>
      <progress max=${rows.length} value=${state.done} aria-label="Progress"></progress>
      <p role="status">${state.done} of ${rows.length}${state.stopped && ', stopped'}</p>
      ${state.problem && html`<p class="error">${state.problem.detail} ${rows.length - state.done} records were not reached.</p>`}
      ${state.failures.length > 0 && html`<p><b>${plural(state.failures.length, 'record')} failed:</b></p><ul class="names">${state.failures.map(({ row, text }) => html`<li key=${row.id}><bdi>${labelOf(resource, row)}</bdi>: ${text}</li>`)}</ul>`}
      <footer>${state.over ? html`<button type="button" class="main" autofocus onClick=${close}>Close</button>` : html`<button type="button" onClick=${() => { stop.current.now = true }}>Stop</button>`}</footer></${Dialog}>`}`
}
