// The form of a record of a resource: create, change, compare with changes that were saved in the meantime, delete.

import { useEffect, useRef, useState } from 'preact/hooks'
import { call, newKey } from './session.js'
import { confirm, Dialog, Failure, html, Loading, plural, Screen, Time, toast, typing, useEvent, useLoad } from './ui.js'
import { labelOf, newField } from './document.js'
import { Cell, errorsOf, focusError, Invalid, invalidOf, Labelled, summaryOf, valueFor } from './fields.js'
import { drafts, dropDraft, keepDraft, same, useEdits, useKept } from './draft.js'
import { FileField, sendFile } from './files.js'
import { api, go, hrefOf, lists } from './router.js'
import { forgetRecords } from './reference.js'
import { trash } from './trash.js'

/** Reports whether a record always has a value of the field, so that it cannot be cleared. */
const isSet = (field, record) => !field.schema.nullable && record[field.name] !== undefined && record[field.name] !== null && record[field.name] !== ''

const isFile = (field) => field.type === 'file' || field.type === 'files'

/** Ends the input of a control that reports its value when it loses the focus. */
async function commit() {
  const active = document.activeElement
  if (!active?.closest('form')) return
  active.blur()
  active.focus({ preventScroll: true })
  await new Promise(requestAnimationFrame)
}

/** Compares the changes with those that were saved in the meantime, by another admin or in another tab. theirs is the record of now. */
function Conflict({ fields, base, edits, theirs, onResolve, onDiscard }) {
  const changed = fields.filter((field) => field.name in edits || !same(base[field.name], theirs[field.name]))
    .filter((field) => !['updatedAt', 'id', 'createdAt'].includes(field.name))
  const both = changed.filter((field) => field.name in edits && !same(base[field.name], theirs[field.name]) && !same(edits[field.name], theirs[field.name]))
  const [mine, setMine] = useState(() => Object.fromEntries(both.map((field) => [field.name, true])))
  const ref = useRef()
  useEffect(() => { ref.current.focus() }, [])
  const resolveAll = () => onResolve(Object.fromEntries(Object.entries(edits).filter(([name, value]) => (mine[name] ?? true) && !same(value, theirs[name]))))
  const show = (field, record) => html`<div class="value"><${Cell} full field=${field} record=${record} /></div>`
  return html`<section class="conflict" aria-labelledby="conflict" tabindex="-1" ref=${ref}>
    <h2 id="conflict">This record was saved elsewhere in the meantime</h2>
    <p>${theirs.updatedAt && html`Saved at <${Time} value=${theirs.updatedAt} />. `}Nothing is lost. ${both.length ? 'Choose the value to keep for each field that has two new values.' : 'Your changes are of other fields.'}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Comparison"><table class="compare"><thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">Yours</th><th scope="col">Saved</th></tr></thead>
      <tbody>${changed.map((field) => {
        const choice = both.includes(field)
        const option = (isMine, record) => html`<label><input type="radio" aria-label=${`${field.label}: ${isMine ? 'yours' : 'saved'}`} name=${`keep-${field.name}`} checked=${mine[field.name] === isMine} onChange=${() => setMine({ ...mine, [field.name]: isMine })} />${show(field, record)}</label>`
        return html`<tr key=${field.name}><th scope="row">${field.label}</th><td>${show(field, base)}</td>
          <td>${field.name in edits ? (choice ? option(true, edits) : show(field, edits)) : html`<span class="none">not changed</span>`}</td>
          <td>${same(base[field.name], theirs[field.name]) ? html`<span class="none">not changed</span>` : choice ? option(false, theirs) : show(field, theirs)}</td></tr>`
      })}</tbody></table></div>
    <footer><button type="button" class="main" onClick=${resolveAll}>Save these values</button>
      <button type="button" onClick=${onDiscard}>Discard my changes</button></footer>
  </section>`
}

/** What is known of the record besides the form. */
function Facts({ resource, record, path, fields, children }) {
  const nested = api().resources.filter((other) => other.parent === resource.name && other.list)
  const rest = [...fields, ...resource.fields.filter((field) => ['userId', 'organizationId', 'createdAt', 'updatedAt', 'id'].includes(field.name) && field.shown && !fields.includes(field))]
  return html`<aside class="facts" aria-label="Facts"><dl>${rest.filter((field) => !isFile(field)).map((field) => html`<div key=${field.name}><dt>${field.label}</dt>
      <dd>${field.name === 'id' ? html`<code>${record.id}</code>` : html`<${Cell} full field=${field} record=${record} />`}</dd></div>`)}</dl>
    ${(nested.length > 0 || children) && html`<ul>${nested.map((other) => html`<li key=${other.name}><a href=${hrefOf(`${path}/${other.path.split('/').pop()}`)}>${other.label}</a></li>`)}${children}</ul>`}
  </aside>`
}

/** Moves to another record of the list that was shown last. */
function useNeighbors(path, id) {
  const list = lists.get(path)
  const index = list?.ids.indexOf(id) ?? -1
  const step = (by) => (index >= 0 ? list.ids[index + by] : undefined)
  useEvent('keydown', (event) => {
    if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return
    const id = { n: step(1), p: step(-1) }[event.key]
    if (id) go(`${path}/${id}`)
  })
  return { next: step(1), previous: step(-1), back: hrefOf(path, list?.query) }
}

export function RecordScreen({ resource, path, id, trail, panels, mark }) {
  const own = `${path}/${id}`
  const query = resource.expands.length ? { expand: resource.expands } : undefined
  const load = (signal) => resource.get ? call('GET', own, { query: resource.get.parameters?.some(({ name }) => name === 'expand') ? query : undefined, signal }) : Promise.resolve({ id })
  const record = useLoad(load, [own])
  if (!record.data) {
    if (record.error?.status === 404) {
      return html`<${Screen} title="Not found" trail=${trail}><p>This ${resource.recordLabel} does not exist. It may have been deleted.</p></${Screen}>`
    }
    return html`<${Screen} title=${resource.label} trail=${trail}>${record.error ? html`<${Failure} error=${record.error} retry=${record.reload} />` : html`<${Loading} />`}</${Screen}>`
  }
  return html`<${RecordForm} resource=${resource} path=${path} id=${id} trail=${trail} loaded=${record} panels=${panels} mark=${mark} />`
}

function RecordForm({ resource, path, id, trail, loaded, panels, mark }) {
  const own = `${path}/${id}`
  const record = loaded.data
  const fields = resource.fields.filter((field) => field.change && !isFile(field))
  const files = resource.fields.filter((field) => field.shown && isFile(field))
  const form = useEdits(own, fields)
  const [problem, setProblem] = useState()
  const [theirs, setTheirs] = useState()
  const [saving, setSaving] = useState(false)
  const neighbors = useNeighbors(path, id)
  const transfers = useRef(new Set())
  useEffect(() => { if (!form.base || Object.keys(form.edits).length === 0) form.rebase(record, record.etag) }, [record])
  const dirty = Object.keys(form.edits).length
  const names = fields.map((field) => field.name)
  const { byField } = errorsOf(problem, names)

  const save = async ({ edits = form.edits, etag } = {}) => {
    if (saving) return
    if (invalidOf(edits).length) return focusError()
    setSaving(true)
    setProblem(undefined)
    try {
      await Promise.allSettled(transfers.current)
      const changes = fields.filter((field) => field.name in edits)
      const body = Object.fromEntries(changes.map((field) => [field.name, valueFor(field, edits[field.name] ?? undefined)]))
      const saved = await call('PATCH', own, { body, etag: etag ?? form.etag })
      form.saved(edits, { ...saved, expand: undefined }, saved.etag)
      setTheirs(undefined)
      loaded.setData(() => saved)
      forgetRecords()
      toast('Saved.')
    } catch (problem) {
      if (problem.status === 412 && resource.get) {
        await call('GET', own).then(setTheirs, setProblem)
      } else {
        setProblem(problem)
        focusError()
      }
    } finally {
      setSaving(false)
    }
  }
  const submit = async (event) => {
    event?.preventDefault()
    if (theirs) return document.querySelector('.conflict').focus() // which has the buttons
    await commit()
    if (Object.keys(form.edits).length) await save()
  }
  useEvent('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 's') {
      event.preventDefault()
      submit()
    }
  })
  const settle = (edits) => {
    form.setEdits(edits)
    form.rebase(theirs, theirs.etag)
    setTheirs(undefined)
    if (Object.keys(edits).length) save({ edits, etag: theirs.etag })
    else loaded.reload()
  }
  const discard = () => {
    form.reset()
    setProblem(undefined)
    if (theirs) {
      form.rebase(theirs, theirs.etag)
      setTheirs(undefined)
      loaded.setData(() => theirs)
    } else {
      form.rebase(record, record.etag)
    }
  }
  const label = labelOf(resource, record)
  useKept(own, `“${label}”`)
  const remove = () => {
    dropDraft(own)
    location.hash = neighbors.back
    trash(own, record.etag, label, () => { location.hash = hrefOf(own) })
  }
  const duplicate = async () => {
    const target = `${path}/new`
    if (drafts().includes(target) && !await confirm('Duplicate?', `What you have entered for a new ${resource.recordLabel} is lost.`, 'Duplicate')) return
    const copied = resource.fields.filter((field) => field.create && !isFile(field) && field.type !== 'password' && (record[field.name] ?? '') !== '')
    try {
      keepDraft(target, Object.fromEntries(copied.map(({ name }) => [name, record[name]])))
    } catch { // the storage is full
      return toast('This record is too large to be duplicated.', { bad: true })
    }
    go(target)
  }
  const canUndo = resource.remove?.['x-caller'] !== 'step-up'
  const [asking, setAsking] = useState(false)
  /** Waits for a change of a file, after which the record has a new version. */
  const changed = async (change) => {
    const read = () => call('GET', own).then((next) => {
      const clash = Object.keys(form.edits).some((name) => !same(form.base[name], next[name]))
      if (!clash) form.rebase(next, next.etag) // else the comparison shows it when the form is saved
      loaded.setData(() => next)
    })
    const over = change.then(read, async (problem) => {
      if ([412, 0].includes(problem.status)) await read().catch(() => {}) // somebody else may have saved the record; 412 is not readable during an upload
      throw problem
    })
    transfers.current.add(over)
    await over.finally(() => transfers.current.delete(over))
  }
  const history = api().operation('GET', '/changes') && resource.changes
  return html`<${Screen} title=${label} trail=${trail} tags=${html`${mark?.(record) && html`<span class="tag bad">${mark(record)}</span>`}${dirty > 0 && html`<span class="tag warn">${plural(dirty, 'unsaved change')}</span>`}`} actions=${html`
      ${neighbors.previous && html`<a class="button quiet" href=${hrefOf(`${path}/${neighbors.previous}`)} aria-keyshortcuts="p" title="Previous record (p)">Previous</a>`}
      ${neighbors.next && html`<a class="button quiet" href=${hrefOf(`${path}/${neighbors.next}`)} aria-keyshortcuts="n" title="Next record (n)">Next</a>`}
      ${resource.create && resource.create['x-caller'] !== 'master' && html`<button type="button" onClick=${duplicate}>Duplicate</button>`}
      ${resource.remove && html`<button type="button" onClick=${canUndo ? remove : () => setAsking(true)}>Delete${canUndo ? '' : '…'}</button>`}
      ${dirty > 0 && !theirs && html`<button type="button" onClick=${discard}>Discard</button>`}
      ${fields.length > 0 && !theirs && html`<button type="button" class="main" disabled=${!dirty || saving} aria-busy=${saving} onClick=${submit} aria-keyshortcuts="Control+S" title="Save (Ctrl+S)">Save</button>`}`}>
    ${form.restored && dirty > 0 && !theirs && html`<p class="note"><span>Your changes of <${Time} value=${new Date(form.restored).toISOString()} /> are restored. They are not saved yet.</span></p>`}
    ${theirs && html`<${Conflict} fields=${resource.fields.filter((field) => field.shown)} base=${form.base} edits=${form.edits} theirs=${theirs} onResolve=${settle} onDiscard=${discard} />`}
    <${Failure} error=${summaryOf(problem, names)} retry=${problem && problem.status !== 400 && !saving ? () => save() : undefined} />
    <div class="columns">
      <div>
        ${fields.length > 0 && html`<form class="fields" onSubmit=${submit} novalidate><button hidden></button>
          ${fields.map((field) => html`<${Labelled} key=${field.name} field=${{ ...field, schema: { ...field.schema, ...field.changes }, set: isSet(field, record) }} errors=${byField[field.name]} problem=${problem} changed=${field.name in form.edits}
            value=${field.name in form.edits ? form.edits[field.name] ?? undefined : (form.base ?? record)[field.name] ?? undefined} onChange=${(value) => form.change(field.name, value)} />`)}
        </form>`}
        ${files.map((field) => html`<${FileField} key=${field.name} field=${field} path=${own} record=${record} editable=${resource.hasFile(field)} onChange=${changed} />`)}
        ${fields.length === 0 && html`<dl class="read">${resource.fields.filter((field) => field.shown && !isFile(field)).map((field) => html`<div key=${field.name}><dt>${field.label}</dt><dd><${Cell} full field=${field} record=${record} /></dd></div>`)}</dl>`}
      </div>
      <${Facts} resource=${resource} record=${record} path=${own} fields=${fields.length ? resource.fields.filter((field) => field.shown && !field.change && !['userId', 'organizationId', 'createdAt', 'updatedAt', 'id'].includes(field.name)) : []}>
        ${history && html`<li><a href=${hrefOf('/changes', { resource: resource.name, recordId: id })}>History</a></li>`}
      </${Facts}>
    </div>
    ${panels?.({ record, path: own, reload: loaded.reload })}
    ${asking && html`<${Dialog} title=${`Delete “${label.slice(0, 60)}”?`} onClose=${() => setAsking(false)}><${RemoveNow} path=${own} etag=${record.etag} onClose=${() => setAsking(false)} onDone=${() => { dropDraft(own); toast(`“${label}” is deleted.`); location.hash = neighbors.back }} /></${Dialog}>`}
  </${Screen}>`
}

/** Deletes a record whose deletion needs a new sign-in, so that it cannot wait for an undo. */
function RemoveNow({ path, etag, onClose, onDone }) {
  const [problem, setProblem] = useState()
  const remove = () => call('DELETE', path, { etag }).then(onDone, setProblem)
  return html`<p>You cannot undo this.</p><${Failure} error=${problem} />
    <footer><button type="button" autofocus onClick=${onClose}>Cancel</button><button type="button" class="danger" onClick=${remove}>Delete</button></footer>`
}

/** Returns the field of the master key, if the operation accepts it. */
function masterKeyOf({ security = [], 'x-caller': caller }) {
  if (!security.some((scheme) => 'MasterKey' in scheme)) return []
  const creates = { type: 'string', format: 'password', description: `the master key of the service (MASTER_KEY)${caller === 'master' ? '' : ', only for a role'}` }
  return [newField('masterKey', creates, { creates, required: caller === 'master' })]
}

export function NewScreen({ resource, path, trail }) {
  const fields = [...resource.fields.filter((field) => field.create && !isFile(field)), ...masterKeyOf(resource.create)]
  const files = resource.fields.filter((field) => isFile(field) && resource.hasFile(field) && resource.create)
  const own = `${path}/new`
  const form = useEdits(own, fields)
  const [problem, setProblem] = useState()
  const [saving, setSaving] = useState(false)
  const [pending, setPending] = useState({})
  const [progress, setProgress] = useState()
  const sent = useRef({})
  const names = fields.map((field) => field.name)
  const { byField } = errorsOf(problem, names)
  const initial = (field) => field.creates.default ?? (field.type === 'boolean' && !field.creates.nullable ? false : undefined)
  const create = async (event) => {
    event?.preventDefault()
    await commit()
    if (saving) return
    if (invalidOf(form.edits).length) return focusError()
    setSaving(true)
    setProblem(undefined)
    const { masterKey, ...body } = Object.fromEntries(Object.entries(form.edits).filter(([, value]) => value !== null && !(value instanceof Invalid)))
    for (const field of fields) if (field.required && !(field.name in body) && field.type === 'boolean') body[field.name] = false
    const text = JSON.stringify(body)
    if (sent.current.text !== text) sent.current = { text, key: newKey() } // a repeated form creates one record
    try {
      let record = await call('POST', path, { body, key: sent.current.key, masterKey, quiet: resource.create['x-caller'] === 'master' })
      form.reset()
      dropDraft(own)
      forgetRecords()
      record = await storeFiles(record)
      toast(`“${labelOf(resource, record)}” is created.`)
      go(resource.get || resource.change ? `${path}/${record.id}` : path, undefined, { replace: true })
    } catch (problem) {
      const denied = fields.at(-1)?.name === 'masterKey' && (problem.status === 401 || (problem.code === 'forbidden' && !masterKey))
      const message = masterKey ? 'This is not the master key.' : 'The master key is required.'
      setProblem(denied ? { status: 400, detail: message, errors: { masterKey: [{ message }] } } : problem)
      focusError()
    } finally {
      setSaving(false)
    }
  }
  const storeFiles = async (record) => {
    for (const field of files) {
      for (const file of pending[field.name] ?? []) {
        setProgress({ name: file.name, part: 0 })
        try {
          record = await sendFile(field, `${path}/${record.id}`, file, (part) => setProgress({ name: file.name, part }))
        } catch (problem) {
          toast(`“${file.name}” was not stored: ${problem.detail} Add it again here.`, { bad: true, time: 15_000 })
        }
      }
    }
    return record
  }
  useEvent('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 's') {
      event.preventDefault()
      create()
    }
  })
  const dirty = Object.keys(form.edits).length
  useKept(own, `the new ${resource.recordLabel}`)
  return html`<${Screen} title=${`New ${resource.recordLabel}`} trail=${trail} actions=${html`
      ${dirty > 0 && html`<button type="button" onClick=${() => { form.reset(); setProblem(undefined) }}>Clear</button>`}
      <button type="button" class="main" aria-busy=${saving} disabled=${saving} onClick=${create} aria-keyshortcuts="Control+S" title="Create (Ctrl+S)">Create</button>`}>
    ${form.restored && dirty > 0 && html`<p class="note"><span>What you entered at <${Time} value=${new Date(form.restored).toISOString()} /> is restored. It is not saved yet.</span></p>`}
    <${Failure} error=${summaryOf(problem, names)} retry=${problem && problem.status !== 400 ? create : undefined} />
    ${progress && html`<p role="status">${progress.name} <progress max="1" value=${progress.part} aria-label=${progress.name}></progress></p>`}
    <form class="fields" onSubmit=${create} novalidate><button hidden></button>
      ${fields.map((field) => html`<${Labelled} key=${field.name} field=${{ ...field, schema: field.creates }} errors=${byField[field.name]} problem=${problem} value=${field.name in form.edits ? form.edits[field.name] ?? undefined : initial(field)}
        onChange=${(value) => form.change(field.name, value)} />`)}
      ${files.map((field) => html`<${FileField} key=${field.name} field=${field} pending=${pending[field.name] ?? []} editable=${true} onPending=${(list) => setPending({ ...pending, [field.name]: list })} />`)}
    </form>
  </${Screen}>`
}
