// The screens of the service: webhooks, emails, jobs, the log of changes, the evaluation of policies.

import { useEffect, useState } from 'preact/hooks'
import { call } from './session.js'
import { Action, Dialog, Failure, html, Loading, Screen, Table, Time, toast, useLoad } from './ui.js'
import { OperationForm, Section } from './forms.js'
import { humanize } from './document.js'
import { Picker, Reference } from './reference.js'
import { api, go, hrefOf } from './router.js'

const has = (method, path) => api().operation(method, path)
const tone = { failed: 'bad', delivered: 'good', deleted: 'bad', created: 'good' }
const Tag = ({ value }) => html`<span class=${`tag ${tone[value] ?? ''}`}>${value}</span>`

/** A list with pages of the screen's own columns. */
function Pages({ path, query, columns, empty, caption, keyOf, list }) {
  const rows = list.data?.rows
  const next = new URLSearchParams(query)
  if (list.data?.next) next.set('after', list.data.next)
  return html`<${Failure} error=${list.error} retry=${list.reload} />${!list.data && list.loading && html`<${Loading} />`}
    ${list.data && html`<${Table} caption=${caption} columns=${columns} rows=${rows} empty=${empty} keyOf=${keyOf} />
    <nav class="pages" aria-label="Pages"><span class="space"></span>${query.get('after') && html`<button type="button" onClick=${() => history.back()}>Back</button>`}
      ${list.data.next && html`<a class="button" rel="next" href=${hrefOf(path, next)}>Next page</a>`}</nav>`}`
}

const queryOf = (query) => Object.fromEntries([...query].filter(([, value]) => value))

function Secret({ secret, onClose }) {
  return html`<${Dialog} title="Secret of the webhook" onClose=${onClose}><p>Copy it now. It is shown only once.</p><pre tabindex="0">${secret}</pre>
    <footer><button type="button" onClick=${() => navigator.clipboard?.writeText(secret).then(() => toast('Copied.'))}>Copy</button><button type="button" class="main" onClick=${onClose}>Done</button></footer></${Dialog}>`
}

export function Webhooks() {
  const list = useLoad((signal) => call('GET', '/webhooks', { signal }), [])
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState()
  const create = has('POST', '/webhooks')
  return html`<${Screen} title="Webhooks" actions=${create && html`<button type="button" class="main" onClick=${() => setCreating(true)}>New webhook</button>`}>
    <${Failure} error=${list.error} retry=${list.reload} />${!list.data && list.loading && html`<${Loading} />`}
    ${list.data && html`<${Table} caption="Webhooks" rows=${list.data.rows} empty="No webhook is set up. A webhook sends changes of records to another server." columns=${[
      { label: 'URL', cell: (row) => html`<a class="open" href=${hrefOf(`/webhooks/${row.id}`)}><bdi>${row.url.slice(0, 100)}</bdi></a>` }, { label: 'Events', cell: (row) => row.events.join(', ') },
      { label: 'State', cell: (row) => html`<span class=${`tag ${row.enabled ? 'good' : 'bad'}`}>${row.enabled ? 'enabled' : 'disabled'}</span>` }, { label: 'Created', cell: (row) => html`<${Time} value=${row.createdAt} />` },
    ]} />`}
    ${creating && html`<${Dialog} title="New webhook" wide onClose=${() => setCreating(false)}><${OperationForm} operation=${create} draft="/webhooks/new" label="Create webhook" onCancel=${() => setCreating(false)}
      submit=${(body) => call('POST', '/webhooks', { body }).then((row) => { setCreating(false); setCreated(row); list.reload() })} /></${Dialog}>`}
    ${created && html`<${Secret} secret=${created.secret} onClose=${() => setCreated(undefined)} />`}
  </${Screen}>`
}

export function WebhookScreen({ id, query }) {
  const path = `/webhooks/${id}`
  const webhook = useLoad((signal) => call('GET', path, { signal }), [path])
  const deliveries = useLoad((signal) => (has('GET', '/webhooks/{id}/deliveries') ? call('GET', `${path}/deliveries`, { query: queryOf(query), signal }) : Promise.resolve()), [path, `${query}`])
  const [secret, setSecret] = useState()
  const trail = html`<a href="#/webhooks">Webhooks</a>`
  if (!webhook.data) return html`<${Screen} title="Webhook" trail=${trail}><${Failure} error=${webhook.error} retry=${webhook.reload} />${webhook.loading && html`<${Loading} />`}</${Screen}>`
  const change = has('PATCH', '/webhooks/{id}'), retry = has('POST', '/webhooks/{id}/deliveries/{deliveryId}/retry')
  return html`<${Screen} title=${webhook.data.url.slice(0, 100)} trail=${trail} actions=${html`
      ${has('POST', '/webhooks/{id}/test') && html`<${Action} run=${() => call('POST', `${path}/test`).then(deliveries.reload)} done="A test event is on its way.">Send test event</${Action}>`}
      ${has('POST', '/webhooks/{id}/secret') && html`<${Action} run=${() => call('POST', `${path}/secret`, { body: {} }).then((body) => setSecret(body.secret))} confirmation=${['Make a new secret?', 'Receivers must know the new secret before the old one ends.', 'New secret', false]}>New secret</${Action}>`}
      ${has('DELETE', '/webhooks/{id}') && html`<${Action} cls="danger" run=${() => call('DELETE', path).then(() => go('/webhooks'))} confirmation=${['Delete this webhook?', 'Events that are not delivered yet are lost.', 'Delete']}>Delete…</${Action}>`}`}>
    <p class="hint">${webhook.data.userId ? html`Created or last changed by <${Reference} name="users" id=${webhook.data.userId} />` : 'The admin who created it is unknown.'}</p>
    ${webhook.data.disabledReason && html`<p class="note bad">The service has disabled this webhook: ${webhook.data.disabledReason}</p>`}
    ${change && html`<${OperationForm} key=${JSON.stringify(webhook.data)} operation=${change} initial=${webhook.data} draft=${path} label="Save" submit=${(body) => call('PATCH', path, { body }).then(() => { toast('Saved.'); webhook.reload() })} />`}
    <${Section} title="Deliveries" actions=${html`<${StatusFilter} path=${path} query=${query} values=${['pending', 'delivered', 'failed']} /><button type="button" onClick=${deliveries.reload}>Reload</button>`}>
      <${Pages} path=${path} query=${query} list=${deliveries} caption="Deliveries" empty=${query.get('status') ? 'No delivery has this status.' : 'Nothing was delivered in the last 7 days.'} columns=${[
        { label: 'Event', cell: (row) => row.type }, { label: 'Status', cell: (row) => html`<${Tag} value=${row.status} />` }, { label: 'Response', cell: (row) => html`${row.responseStatus ?? ''} <bdi>${(row.error ?? '').slice(0, 200)}</bdi>` },
        { label: 'Attempts', number: true, cell: (row) => row.attempts }, { label: 'Duration', number: true, cell: (row) => (row.durationMs === null ? '–' : `${row.durationMs} ms`) }, { label: 'Created', cell: (row) => html`<${Time} value=${row.createdAt} />` },
        { label: 'Next attempt', cell: (row) => html`<${Time} value=${row.nextAttemptAt} />` },
        ...(retry ? [{ cell: (row) => html`<${Action} run=${() => call('POST', `${path}/deliveries/${row.id}/retry`).then(deliveries.reload)} done="The delivery is repeated.">Retry</${Action}>` }] : []),
      ]} /></${Section}>
    ${secret && html`<${Secret} secret=${secret} onClose=${() => setSecret(undefined)} />`}
  </${Screen}>`
}

function StatusFilter({ path, query, values }) {
  return html`<label class="beside">Status <select value=${query.get('status') ?? ''} onChange=${(event) => go(path, { status: event.target.value })}>
    <option value="">All</option>${values.map((value) => html`<option key=${value} value=${value}>${humanize(value)}</option>`)}</select></label>`
}

export function Emails({ query }) {
  const list = useLoad((signal) => call('GET', '/emails', { query: queryOf(query), signal }), [`${query}`])
  const columns = [
    { label: 'Kind', cell: (row) => row.kind }, { label: 'User', cell: (row) => html`<${Reference} name="users" id=${row.userId} />` }, { label: 'Status', cell: (row) => html`<${Tag} value=${row.status} />` },
    { label: 'Attempts', number: true, cell: (row) => row.attempts }, { label: 'Error', cell: (row) => html`<bdi>${(row.error ?? '').slice(0, 200)}</bdi>` },
    { label: 'Accepted', cell: (row) => html`<${Time} value=${row.createdAt} />` }, { label: 'Next attempt', cell: (row) => html`<${Time} value=${row.nextAttemptAt} />` },
  ]
  const retry = has('POST', '/emails/{id}/retry'), remove = has('DELETE', '/emails/{id}')
  if (retry || remove) {
    columns.push({ cell: (row) => html`<span class="actions">${retry && html`<${Action} run=${() => call('POST', `/emails/${row.id}/retry`).then(list.reload)} done="The email is sent again.">Retry</${Action}>`}
      ${remove && html`<${Action} run=${() => call('DELETE', `/emails/${row.id}`).then(list.reload)} confirmation=${['Delete this email?', 'It is not sent.', 'Delete']}>Delete</${Action}>`}</span>` })
  }
  return html`<${Screen} title="Emails" actions=${html`<${StatusFilter} path="/emails" query=${query} values=${['pending', 'failed']} /><button type="button" onClick=${list.reload}>Reload</button>`}>
    <p class="hint">Emails that wait, and those that failed in the last day.</p>
    <${Pages} path="/emails" query=${query} list=${list} caption="Emails" columns=${columns} empty=${query.get('status') ? 'No email has this status.' : 'All emails are sent.'} /></${Screen}>`
}

/** Returns a duration as a text. */
function duration(seconds) {
  const [unit, size] = [['d', 86_400], ['h', 3600], ['min', 60], ['s', 1]].find(([, size]) => seconds >= size) ?? ['s', 1]
  return `${Number((seconds / size).toFixed(1))} ${unit}`
}

export function Jobs() {
  const list = useLoad((signal) => call('GET', '/jobs', { signal }), [])
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && !list.error && list.data?.rows.some((row) => row.running) && list.reload(), 3000)
    return () => clearInterval(timer)
  })
  const run = has('POST', '/jobs/{name}/run')
  return html`<${Screen} title="Jobs" actions=${html`<button type="button" onClick=${list.reload}>Reload</button>`}>
    <${Failure} error=${list.error} retry=${list.reload} />${!list.data && list.loading && html`<${Loading} />`}
    ${list.data && html`<${Table} caption="Jobs" rows=${list.data.rows} keyOf=${(row) => row.name} empty="This service has no jobs." columns=${[
      { label: 'Name', cell: (row) => html`<b>${row.name}</b>` }, { label: 'Every', number: true, cell: (row) => duration(row.intervalSeconds) },
      { label: 'State', cell: (row) => (row.running ? html`<span class="tag warn">running</span>` : row.error ? html`<span class="tag bad">failed</span>` : row.succeededAt ? html`<span class="tag good">succeeded</span>` : html`<span class="none">not run yet</span>`) },
      { label: 'Succeeded', cell: (row) => html`<${Time} value=${row.succeededAt} />` }, { label: 'Failed', cell: (row) => html`<${Time} value=${row.failedAt} /> <bdi>${(row.error ?? '').slice(0, 200)}</bdi>` },
      { label: 'Next', cell: (row) => html`<${Time} value=${row.nextAt} />` },
      ...(run ? [{ cell: (row) => html`<${Action} disabled=${row.running} run=${() => call('POST', `/jobs/${encodeURIComponent(row.name)}/run`).then(list.reload)} done="The job is started.">Run now</${Action}>` }] : []),
    ]} />`}</${Screen}>`
}

export function Changes({ query }) {
  const list = useLoad((signal) => call('GET', '/changes', { query: queryOf(query), signal }), [`${query}`])
  const set = (name, value) => {
    const next = new URLSearchParams(query)
    next.delete('after')
    if (name === 'resource') next.delete('recordId')
    value ? next.set(name, value) : next.delete(name)
    go('/changes', next)
  }
  const names = [...new Set([...api().resources.map((resource) => resource.name), 'webhooks', query.get('resource')])].filter(Boolean)
  const record = (row) => {
    if (api().byName(row.resource)) return html`<${Reference} name=${row.resource} id=${row.recordId} record=${row.type === 'deleted' ? null : undefined} />`
    if (row.resource === 'webhooks' && row.type !== 'deleted') return html`<a href=${hrefOf(`/webhooks/${row.recordId}`)} title=${row.recordId}>Webhook</a>`
    return html`<code>${row.recordId}</code>`
  }
  return html`<${Screen} title="Audit log">
    <div class="tools"><label class="beside">Resource <select value=${query.get('resource') ?? ''} onChange=${(event) => set('resource', event.target.value)}><option value="">All</option>${names.map((name) => html`<option key=${name} value=${name}>${humanize(name)}</option>`)}</select></label>
      ${query.get('recordId') && html`<ul class="chips"><li><span>Record <b><${Reference} name=${query.get('resource')} id=${query.get('recordId')} /></b></span><button type="button" class="quiet icon" aria-label="Show all records" onClick=${() => set('recordId')}>✕</button></li></ul>`}
      <div class="beside"><label for="by">By</label> <${Picker} name="users" id="by" clearable value=${query.get('by') ?? undefined} onChange=${(id) => set('by', id)} /></div>
      <label class="beside">Since <input type="date" value=${(query.get('createdAt[gte]') ?? '').slice(0, 10)} onChange=${(event) => set('createdAt[gte]', event.target.value && new Date(`${event.target.value}T00:00`).toISOString())} /></label></div>
    <${Pages} path="/changes" query=${query} list=${list} caption="Changes" empty="No change matches." columns=${[
      { label: 'Time', cell: (row) => html`<${Time} value=${row.createdAt} />` }, { label: 'By', cell: (row) => (row.by ? html`<${Reference} name="users" id=${row.by} />${row.key && html` <small>API key</small>`}` : html`<span class="none">master key</span>`) },
      { label: 'Change', cell: (row) => html`<${Tag} value=${row.type} />` }, { label: 'Resource', cell: (row) => humanize(row.resource) }, { label: 'Record', cell: record },
      { label: 'Fields', cell: (row) => (row.fields ?? []).map(humanize).join(', ') }, { label: 'Request', cell: (row) => html`<code>${row.requestId}</code>` },
    ]} /></${Screen}>`
}

export function Evaluation() {
  const [result, setResult] = useState()
  const operation = has('POST', '/policies/evaluate')
  const evaluate = (body, after) => call('POST', '/policies/evaluate', { body: { ...body, after } }).then((page) => setResult((before) => (after
    ? { body, ...page, rows: [...before.rows, ...page.rows], explain: [...(before.explain ?? []), ...(page.explain ?? [])] } : { body, ...page })))
  return html`<${Screen} title="Evaluate policies" trail=${html`<a href="#/policies">Policies</a>`}>
    <p class="hint">Which policies apply to a workload with these labels? Write them as <code>${'{"labels": {"app": "reviews"}}'}</code>. Instance takes precedence over handshake, and handshake over metadata.</p>
    <${OperationForm} operation=${operation} label="Evaluate" except=${['after', 'limit', 'count']} reset=${false} submit=${evaluate} />
    ${result && html`<div role="status"><${Section} title=${`${result.count ?? result.rows.length} apply`}>
      <${Table} caption="Policies that apply" rows=${result.rows} empty="No policy applies." columns=${[
        { label: 'Name', cell: (row) => html`<a class="open" href=${hrefOf(`/policies/${row.id}`)}><bdi>${row.name}</bdi></a>` }, { label: 'Labels', cell: (row) => html`<code>${Object.entries(row.selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`).join(', ') || 'every workload'}</code>` },
      ]} />
      ${result.next && html`<button type="button" onClick=${() => evaluate(result.body, result.next)}>More</button>`}</${Section}>
      ${result.explain && html`<${Section} title="Explanation"><${Table} caption="Explanation" rows=${result.explain} keyOf=${(row) => row.policy.id} empty="The namespace has no policy." columns=${[
        { label: 'Policy', cell: (row) => html`<bdi>${row.policy.name}</bdi>` }, { label: 'Applies', cell: (row) => (row.applies ? 'Yes' : 'No') }, { label: 'Labels', cell: (row) => Object.entries(row.labels).map(([key, value]) => `${key}: ${value}`).join(', ') },
      ]} /></${Section}>`}</div>`}
  </${Screen}>`
}
