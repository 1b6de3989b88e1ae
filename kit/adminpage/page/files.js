// Files of records: preview, replacement and deletion. The bytes are fetched with the token.

import { useId, useRef, useState } from 'preact/hooks'
import { call, transfer } from './session.js'
import { Action, formatSize, html, save, useBlob } from './ui.js'

const previews = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** Stores a file of a field of the record at the path. etag is the version of a record whose file is replaced. Resolves to the record. */
export async function sendFile(field, path, file, onProgress, etag) {
  const query = new URLSearchParams({ filename: file.name })
  return (await transfer(field.type === 'files' ? 'POST' : 'PUT', `${path}/${field.name}?${query}`, { body: file, onProgress, etag })).json()
}

function Preview({ path, file }) {
  const url = useBlob(previews.includes(file.type) && file.size < 10e6 ? path : undefined)
  return url ? html`<img class="preview" src=${url} alt="" />` : html`<span class="preview type" aria-hidden="true">${(file.type.split('/')[1] ?? '').slice(0, 4)}</span>`
}

function StoredFile({ path, file, editable, onDelete }) {
  const download = async () => save(await (await transfer('GET', path)).blob(), file.name)
  return html`<li class="file"><${Preview} path=${path} file=${file} />
    <div><bdi class="name">${file.name}</bdi><small>${file.type}, ${formatSize(file.size)}${file.width ? `, ${file.width} × ${file.height}` : ''}</small></div>
    <div class="actions"><${Action} run=${download}>Download</${Action}>
    ${editable && html`<${Action} run=${onDelete} confirmation=${['Delete this file?', file.name, 'Delete']}>Delete</${Action}>`}</div></li>`
}

/** Returns the path of a stored file below the path of its record. */
const pathOf = (field, path, file) => (field.type === 'files' ? `${path}/${field.name}/${encodeURIComponent(file.id)}` : `${path}/${field.name}`)

/** The files of a field: stored ones of a record, or those that a new record will get. onChange gets the promise of a change. */
export function FileField({ field, path, record, editable, onChange, pending, onPending }) {
  const [uploads, setUploads] = useState([])
  const input = useRef(), id = useId()
  const { types, maxBytes } = field.schema['x-file']
  const list = field.type === 'files'
  const stored = record ? [record[field.name]].flat().filter(Boolean) : []
  const update = (upload, changes) => setUploads((all) => all.map((other) => (other === upload.current ? (upload.current = { ...other, ...changes }) : other)))
  const send = async (file) => {
    const upload = { current: { file, part: 0 } }
    setUploads((all) => [...all, upload.current])
    try {
      await onChange(sendFile(field, path, file, (part) => update(upload, { part }), list ? undefined : record.etag))
      setUploads((all) => all.filter((other) => other !== upload.current))
    } catch (problem) {
      update(upload, { problem })
    }
  }
  const choose = async (files) => {
    const chosen = list ? [...files] : [...files].slice(0, 1)
    if (onPending) return onPending(list ? [...pending, ...chosen] : chosen)
    for (const file of chosen) {
      if (file.size > maxBytes) setUploads((all) => [...all, { file, problem: { detail: `The file has ${formatSize(file.size)}; at most ${formatSize(maxBytes)} are allowed.` } }])
      else await send(file)
    }
    input.current.value = ''
  }
  const remove = (file) => onChange(call('DELETE', pathOf(field, path, file)))
  const drop = (event) => {
    event.preventDefault()
    if (editable) choose(event.dataTransfer.files)
  }
  return html`<div class="field" data-field=${field.name} onDragOver=${(event) => event.preventDefault()} onDrop=${drop}><label for=${id}>${field.label}</label><div class="control">
    ${(stored.length > 0 || uploads.length > 0 || pending?.length > 0) && html`<ul class="files">
      ${stored.map((file) => html`<${StoredFile} key=${file.id ?? file.sha256} path=${pathOf(field, path, file)} file=${file} editable=${editable} onDelete=${() => remove(file)} />`)}
      ${pending?.map((file, i) => html`<li class="file" key=${i}><bdi class="name">${file.name}</bdi><small>${formatSize(file.size)}</small>
        <button type="button" onClick=${() => onPending(pending.filter((other) => other !== file))}>Remove</button></li>`)}
      ${uploads.map((upload, i) => html`<li class="file" key=${`upload ${i}`}><div><bdi class="name">${upload.file.name}</bdi>
        ${upload.problem ? html`<small class="error" role="alert">${upload.problem.detail}</small>` : html`<progress max="1" value=${upload.part} aria-label=${`Upload of ${upload.file.name}`}></progress>`}</div>
        ${upload.problem && html`<div class="actions"><button type="button" onClick=${() => { setUploads((all) => all.filter((other) => other !== upload)); send(upload.file) }}>Retry</button>
          <button type="button" onClick=${() => setUploads((all) => all.filter((other) => other !== upload))}>Dismiss</button></div>`}</li>`)}
    </ul>`}
    ${editable && html`<input type="file" ref=${input} id=${id} multiple=${list} accept=${types?.join()} aria-describedby=${`${id}-hint`} onChange=${(event) => choose(event.target.files)} />
      <p class="hint" id=${`${id}-hint`}>${types?.length ? `${types.join(', ')}; ` : ''}at most ${formatSize(maxBytes)}. Files are stored ${onPending ? 'with the record' : 'immediately'}.</p>`}
    ${!editable && stored.length === 0 && html`<span class="none" id=${id}>–</span>`}
  </div></div>`
}
