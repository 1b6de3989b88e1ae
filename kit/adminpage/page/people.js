// What belongs to a user and to an organization. Each part is absent if the service does not have its operations.

import { useRef, useState } from 'preact/hooks'
import { base, call, transfer } from './session.js'
import { Action, confirm, Dialog, html, Time, toast, useBlob, useLoad, Failure } from './ui.js'
import { labelOf } from './document.js'
import { OperationForm, Section, SubList } from './forms.js'
import { Reference } from './reference.js'
import { api } from './router.js'

const has = (method, path) => api().operation(method, path)
const methods = { pwd: 'password', otp: 'code', mfa: 'two factors', hwk: 'passkey', swk: 'passkey', user: 'presence', pin: 'PIN' }

/** Returns a client such as 'Firefox on macOS', if it is a known browser. */
function clientOf(userAgent) {
  const find = (names) => names.find(([pattern]) => pattern.test(userAgent))?.[1]
  const browser = find([[/Edg\w*\//, 'Edge'], [/OPR\//, 'Opera'], [/(Firefox|FxiOS)\//, 'Firefox'], [/(Chrome|CriOS)\//, 'Chrome'], [/Version\/.*Safari\//, 'Safari']])
  const system = find([[/iPhone|iPad/, 'iOS'], [/Android/, 'Android'], [/Windows/, 'Windows'], [/Mac OS X/, 'macOS'], [/Linux/, 'Linux']])
  return browser && system ? `${browser} on ${system}` : userAgent || 'unknown'
}

/** The picture of a user: only of this service, otherwise initials. */
function Picture({ record, path, reload }) {
  const [progress, setProgress] = useState()
  const [problem, setProblem] = useState()
  const input = useRef()
  const own = record.picture?.startsWith(`${base}${path}/picture`) || new RegExp(`${path}/picture(\\?|$)`).test(record.picture ?? '')
  const url = useBlob(own ? `${path}/picture?${record.picture.split('?')[1] ?? ''}` : undefined)
  const initials = labelOf(api().byName('users'), record).split(/\s+/).map((word) => word[0]).slice(0, 2).join('').toUpperCase()
  const send = async (file) => {
    if (!file) return
    setProblem(undefined)
    try {
      await transfer('PUT', `${path}/picture?${new URLSearchParams({ filename: file.name })}`, { body: file, onProgress: setProgress })
      reload()
    } catch (problem) {
      setProblem(problem)
    } finally {
      setProgress(undefined)
      input.current.value = ''
    }
  }
  return html`<${Section} title="Picture"><div class="picture">
      ${url ? html`<img src=${url} alt="" />` : html`<span class="initials" aria-hidden="true">${initials}</span>`}
      <div><label class="stacked">New picture<input type="file" accept="image/*" ref=${input} onChange=${(event) => send(event.target.files[0])} /></label>
        ${progress !== undefined && html`<progress max="1" value=${progress} aria-label="Upload"></progress>`}
        ${own && has('DELETE', '/users/{id}/picture') && html`<${Action} run=${() => call('DELETE', `${path}/picture`).then(reload)}>Delete the picture</${Action}>`}</div></div>
    <${Failure} error=${problem} />
  </${Section}>`
}

function TwoFactor({ path }) {
  const state = useLoad((signal) => call('GET', `${path}/two-factor`, { signal }), [path])
  const remove = () => call('DELETE', `${path}/two-factor`).then(state.reload)
  const turnOff = state.data?.enabled && has('DELETE', '/users/{id}/two-factor') && html`<${Action} run=${remove} confirmation=${['Turn off the second factor?', 'The user then signs in without a code.', 'Turn off']}>Turn off</${Action}>`
  return html`<${Section} title="Second factor" actions=${turnOff}><${Failure} error=${state.error} retry=${state.reload} />
    ${state.data && (state.data.enabled ? html`<p>On. ${state.data.recoveryCodesLeft} recovery codes are left.</p>` : html`<p class="none">Off</p>`)}</${Section}>`
}

export function UserPanels({ record, path, reload }) {
  const user = '/users/{id}'
  return html`<div class="parts">
    ${has('PUT', `${user}/picture`) && html`<${Picture} record=${record} path=${path} reload=${reload} />`}
    ${has('GET', `${user}/sessions`) && html`<${SubList} title="Sessions" path=${`${path}/sessions`} version=${record.etag} empty="No session is open." removeLabel="End session"
      remove=${has('DELETE', `${user}/sessions/{sessionId}`) && ((row) => call('DELETE', `${path}/sessions/${row.id}`))} columns=${[
        { label: 'Client', cell: (row) => html`<bdi title=${row.userAgent}>${clientOf(row.userAgent).slice(0, 120)}</bdi>${row.current ? html` <span class="tag">this one</span>` : ''}` },
        { label: 'Address', cell: (row) => row.ip }, { label: 'Signed in with', cell: (row) => (row.amr ?? []).map((name) => methods[name] ?? name).join(', ') },
        { label: 'Begun', cell: (row) => html`<${Time} value=${row.createdAt} />` }, { label: 'Last used', cell: (row) => html`<${Time} value=${row.lastUsedAt} />` },
      ]} actions=${(list) => has('DELETE', `${user}/sessions`) && list.data?.rows.length > 0 && html`<${Action} run=${() => call('DELETE', `${path}/sessions`).then(list.reload)} confirmation=${['End all sessions?', 'The user must sign in again everywhere.', 'End all sessions']}>End all sessions</${Action}>`} />`}
    ${!has('GET', `${user}/sessions`) && has('DELETE', `${user}/sessions`) && html`<${Section} title="Sessions"><${Action} run=${() => call('DELETE', `${path}/sessions`)} done="All sessions have ended." confirmation=${['End all sessions?', 'The user must sign in again everywhere.', 'End all sessions']}>End all sessions</${Action}></${Section}>`}
    ${has('GET', `${user}/two-factor`) && html`<${TwoFactor} path=${path} />`}
    ${!has('GET', `${user}/two-factor`) && has('DELETE', `${user}/two-factor`) && html`<${Section} title="Second factor"><${Action} run=${() => call('DELETE', `${path}/two-factor`)} done="The second factor is off." confirmation=${['Turn off the second factor?', 'The user then signs in without a code.', 'Turn off']}>Turn off</${Action}></${Section}>`}
    ${has('GET', `${user}/passkeys`) && html`<${SubList} title="Passkeys" path=${`${path}/passkeys`} empty="No passkey is registered." remove=${has('DELETE', `${user}/passkeys/{passkeyId}`) && ((row) => call('DELETE', `${path}/passkeys/${row.id}`))} columns=${[
      { label: 'Name', cell: (row) => html`<bdi>${row.name}</bdi>` }, { label: 'Created', cell: (row) => html`<${Time} value=${row.createdAt} />` }, { label: 'Last used', cell: (row) => html`<${Time} value=${row.lastUsedAt} />` },
    ]} />`}
    ${has('GET', `${user}/api-keys`) && html`<${SubList} title="API keys" path=${`${path}/api-keys`} empty="There is no API key." remove=${has('DELETE', `${user}/api-keys/{keyId}`) && ((row) => call('DELETE', `${path}/api-keys/${row.id}`))} columns=${[
      { label: 'Name', cell: (row) => html`<bdi>${row.name}</bdi>` }, { label: 'Scopes', cell: (row) => row.scopes.join(', ') }, { label: 'Expires', cell: (row) => html`<${Time} value=${row.expiresAt} />` },
      { label: 'Last used', cell: (row) => html`<${Time} value=${row.lastUsedAt} /> ${row.lastUsedIp ?? ''}` },
    ]} />`}
    ${has('GET', `${user}/identities`) && html`<${SubList} title="Identities" path=${`${path}/identities`} empty="No provider is linked." keyOf=${(row) => row.provider} remove=${has('DELETE', `${user}/identities/{provider}`) && ((row) => call('DELETE', `${path}/identities/${encodeURIComponent(row.provider)}`))} removeLabel="Unlink" columns=${[
      { label: 'Provider', cell: (row) => row.provider }, { label: 'Email', cell: (row) => html`<bdi>${row.email ?? ''}</bdi>` }, { label: 'Linked', cell: (row) => html`<${Time} value=${row.createdAt} />` },
    ]} />`}
  </div>`
}

export function OrganizationPanels({ path }) {
  const organization = '/organizations/{id}'
  const [inviting, setInviting] = useState(false)
  const change = has('PATCH', `${organization}/members/{userId}`), invite = has('POST', `${organization}/invitations`)
  const body = change && Object.values(api().schemaOf(change).properties ?? {})[0]
  const setRole = async (row, role, list, select) => {
    if (!await confirm('Change the role?', `${row.name}: ${row.role} → ${role}`, 'Change', false)) return (select.value = row.role)
    try {
      await call('PATCH', `${path}/members/${row.userId}`, { body: { role } })
    } catch (problem) {
      select.value = row.role
      toast(problem.detail, { bad: true })
    }
    list.reload()
  }
  return html`<div class="parts">
    ${has('GET', `${organization}/members`) && html`<${Members} path=${path} roles=${body?.enum} setRole=${setRole} />`}
    ${has('GET', `${organization}/invitations`) && html`<${SubList} title="Invitations" path=${`${path}/invitations`} empty="No invitation is open." removeLabel="Withdraw"
      remove=${has('DELETE', `${organization}/invitations/{invitationId}`) && ((row) => call('DELETE', `${path}/invitations/${row.id}`))} columns=${[
        { label: 'Email', cell: (row) => html`<bdi>${row.email}</bdi>` }, { label: 'Role', cell: (row) => html`<span class="tag">${row.role}</span>` }, { label: 'Expires', cell: (row) => html`<${Time} value=${row.expiresAt} />` },
      ]} actions=${invite && html`<button type="button" onClick=${() => setInviting(true)}>Invite…</button>`}>
      ${(list) => inviting && html`<${Dialog} title="Invite" onClose=${() => setInviting(false)}><${OperationForm} operation=${invite} draft=${`${path}/invitations/new`} label="Send invitation" onCancel=${() => setInviting(false)}
        submit=${(body) => call('POST', `${path}/invitations`, { body }).then(() => { setInviting(false); toast('The invitation is on its way.'); list.reload() })} /></${Dialog}>`}
    </${SubList}>`}
  </div>`
}

function Members({ path, roles, setRole }) {
  const list = useLoad((signal) => call('GET', `${path}/members`, { signal }), [path])
  const remove = has('DELETE', '/organizations/{id}/members/{userId}')
  return html`<${Section} title="Members"><${Failure} error=${list.error} retry=${list.reload} />
    ${list.data && html`<ul class="members">${list.data.rows.map((row) => html`<li key=${row.userId}>
      <${Reference} name="users" id=${row.userId} record=${{ id: row.userId, name: row.name }} /><small>since <${Time} value=${row.createdAt} /></small><span class="space"></span>
      ${roles ? html`<select aria-label=${`Role of ${row.name}`} value=${row.role} onChange=${(event) => setRole(row, event.target.value, list, event.target)}>${roles.map((role) => html`<option key=${role}>${role}</option>`)}</select>` : html`<span class="tag">${row.role}</span>`}
      ${remove && html`<${Action} run=${() => call('DELETE', `${path}/members/${row.userId}`).then(list.reload)} confirmation=${['Remove this member?', `${row.name} then sees nothing of this organization.`, 'Remove']}>Remove</${Action}>`}</li>`)}</ul>`}
  </${Section}>`
}
