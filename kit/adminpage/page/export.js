// Exports exactly the list that is shown.

import { useState } from 'preact/hooks'
import { Problem } from './client.js'
import { transfer } from './session.js'
import { Dialog, formatNumber, html, Menu, save, toast } from './ui.js'

const MOST = 200_000 // rows

/** Reads a response to its end, unless it has more lines than most. A value in quotes may have several lines. */
async function readLines(response, stop, most, onRows) {
  const parts = []
  let lines = 0
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read()
    if (done) return new Blob(parts)
    for (let i = value.indexOf(10); i >= 0; i = value.indexOf(10, i + 1)) lines++
    if (lines > most + 1) {
      stop.abort()
      return undefined
    }
    parts.push(value)
    onRows(lines)
  }
}

/** Returns the query string of an export. */
function searchOf(query) {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value) && name.endsWith('[in]')) for (const item of value.length === 1 ? [value[0], value[0]] : value) params.append(name, item)
    else params.append(name, value)
  }
  return params
}

export function ExportMenu({ resource, path, query, total }) {
  const [running, setRunning] = useState()
  const [large, setLarge] = useState(false)
  const exact = total && !total.countCapped
  const start = async (format) => {
    if (exact && total.count > MOST) return setLarge(true)
    const stop = new AbortController()
    setRunning({ stop, rows: 0 })
    const { expand, ...rest } = query
    try {
      const params = searchOf({ ...rest, format, ...(format === 'csv' && { bom: true }) })
      const response = await transfer('GET', `${path}?${params}`, { signal: stop.signal })
      const blob = await readLines(response, stop, exact ? Infinity : MOST, (rows) => setRunning({ stop, rows }))
      if (blob) save(blob, `${resource.name}.${format}`)
      else setLarge(true)
    } catch (error) {
      if (stop.signal.aborted) toast('The export was stopped. No file is saved.')
      else toast(error instanceof Problem ? error.detail : 'The export is incomplete: the connection was cut.', { bad: true })
    } finally {
      setRunning(undefined)
    }
  }
  if (running) return html`<button type="button" onClick=${() => running.stop.abort()}>Stop export (${formatNumber(running.rows)}${exact && ` of ${formatNumber(total.count)}`} rows)</button>`
  return html`<${Menu} label="Export" align="end">${(close) => html`
    <p class="hint">The rows and columns of this list, as it is filtered and sorted.</p>
    <button type="button" onClick=${() => { close(); start('csv') }}>CSV</button>
    <button type="button" onClick=${() => { close(); start('ndjson') }}>NDJSON</button>`}</${Menu}>
    ${large && html`<${Dialog} title="This list is too long for the browser" onClose=${() => setLarge(false)}>
      <p>It has more than ${formatNumber(MOST)} rows. Export all records in the directory of the service:</p>
      <pre tabindex="0">${document.documentElement.dataset.name} export ${resource.name} ${resource.name}.csv</pre>
      <footer><button type="button" onClick=${() => setLarge(false)}>Close</button></footer></${Dialog}>`}`
}
