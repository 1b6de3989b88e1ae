// Forms and lists of operations that belong to no record form.

import { useState } from 'preact/hooks'
import { call } from './session.js'
import { Action, Failure, html, Loading, Table, useLoad } from './ui.js'
import { fieldsOf } from './document.js'
import { errorsOf, focusError, invalidOf, Labelled, summaryOf, valueFor } from './fields.js'
import { useEdits } from './draft.js'

/** A form of the body of an operation. initial has the values of a record, of which only changes are sent. */
export function OperationForm({ operation, initial, draft, label, except = [], submit, onCancel, reset = true }) {
  const fields = fieldsOf(operation, { except: ['code', 'recovery_code', 'access_token', ...except] })
  const form = useEdits(draft, fields, initial)
  const [problem, setProblem] = useState()
  const [busy, setBusy] = useState(false)
  const names = fields.map((field) => field.name)
  const { byField } = errorsOf(problem, names)
  const send = async (event) => {
    event?.preventDefault()
    document.activeElement.blur()
    await new Promise(requestAnimationFrame)
    if (invalidOf(form.edits).length) return focusError()
    setBusy(true)
    setProblem(undefined)
    try {
      const body = initial ? Object.fromEntries(fields.filter(({ name }) => name in form.edits).map((field) => [field.name, valueFor(field, form.edits[field.name] ?? undefined)]))
        : Object.fromEntries(Object.entries(form.edits).filter(([, value]) => value !== null))
      await submit(body)
      if (reset) form.reset()
    } catch (problem) {
      setProblem(problem)
      focusError()
    } finally {
      setBusy(false)
    }
  }
  const valueOf = ({ name, schema }) => (name in form.edits ? form.edits[name] ?? undefined : initial?.[name] ?? schema.default)
  return html`<form onSubmit=${send} class="fields" novalidate>
    <${Failure} error=${summaryOf(problem, names)} />
    ${fields.map((field) => html`<${Labelled} key=${field.name} field=${field} value=${valueOf(field)} errors=${byField[field.name]} problem=${problem} changed=${Boolean(initial) && field.name in form.edits} onChange=${(value) => form.change(field.name, value)} />`)}
    <footer>${onCancel && html`<button type="button" onClick=${onCancel}>Cancel</button>`}<button class="main" disabled=${busy} aria-busy=${busy}>${label}</button></footer>
  </form>`
}

/** A part of a screen with a heading. */
export function Section({ title, actions, children }) {
  return html`<section class="part"><header><h2>${title}</h2><div class="actions">${actions}</div></header>${children}</section>`
}

/** A list at a path with columns, which is loaded again with another version. remove deletes a row. */
export function SubList({ title, path, version, query, columns, empty, remove, removeLabel = 'Delete', actions, keyOf, children }) {
  const list = useLoad((signal) => call('GET', path, { signal, query }), [path, version, JSON.stringify(query)])
  const all = [...columns]
  if (remove) {
    all.push({ cell: (row) => html`<${Action} run=${() => remove(row).then(list.reload)} confirmation=${[`${removeLabel}?`, row.name ?? row.email ?? row.userAgent ?? row.provider ?? '', removeLabel]}>${removeLabel}</${Action}>` })
  }
  return html`<${Section} title=${title} actions=${typeof actions === 'function' ? actions(list) : actions}>
    <${Failure} error=${list.error} retry=${list.reload} />
    ${!list.data && list.loading && html`<${Loading} />`}
    ${list.data && html`<${Table} caption=${title} columns=${all} rows=${list.data.rows} empty=${empty} keyOf=${keyOf} />`}
    ${typeof children === 'function' ? children(list) : children}
  </${Section}>`
}
