// Sign-in: with a password, a code by email, a passkey or a provider, and a second factor. Also the dialog that signs in again.

import { useEffect, useRef, useState } from 'preact/hooks'
import { askProvider, readProviders } from './providers.js'
import { call, dialog, newKey, onSession, owner, service, signIn, user } from './session.js'
import { humanize } from './document.js'
import { Dialog, html } from './ui.js'

function TextField({ label, name, type = 'text', autocomplete, value, readonly, hint, focus, required }) {
  const ref = useRef()
  useEffect(() => { if (focus) ref.current.focus() }, [])
  return html`<div class="stacked"><label for=${`sign-in-${name}`}>${label}${required && html`<span class="required" title="required" aria-hidden="true">*</span>`}</label>
    <input ref=${ref} id=${`sign-in-${name}`} name=${name} type=${type} autocomplete=${autocomplete} defaultValue=${value} readonly=${readonly} required autofocus=${focus} dir="auto" aria-describedby=${hint && `hint-${name}`} />
    ${hint && html`<small id=${`hint-${name}`}>${hint}</small>`}</div>`
}

/** Returns the problem as a sentence. */
function sentence(error) {
  if (error.status === 0) return 'The service did not respond. Try again.'
  if (error.name === 'NotAllowedError') return 'No passkey was used. Try again, or choose another way.'
  const errors = Object.values((error.status === 400 && error.errors) || {}).flat().map(({ param, message }) => `${humanize(param)}: ${message}`)
  return errors.length ? errors.join(' ') : error.detail ?? error.message
}

/** The form. again is the user who must sign in again. */
export function SignIn({ again, onDone, onCancel }) {
  const [problem, setProblem] = useState()
  const [challenge, setChallenge] = useState() // of the second factor or, with emailed, of the code that was sent to this address
  const [providers, setProviders] = useState([])
  const waiting = useRef(new AbortController()) // for the window of a provider
  const [busy, setBusy] = useState(false)
  const [first, setFirst] = useState(service.first && !again)
  useEffect(() => {
    if (service.providers && window.isSecureContext) readProviders().then(setProviders)
    return () => waiting.current.abort()
  }, [])
  const run = async (job) => {
    waiting.current.abort()
    setBusy(true)
    setProblem(undefined)
    try {
      const signedIn = await job()
      if (signedIn.challenge) return setChallenge(signedIn)
      onDone()
    } catch (error) {
      if (error.code === 'second_factor_required' && error.challenge) setChallenge({ challenge: error.challenge })
      else {
        if (error.status === 401) setChallenge(undefined) // it has expired
        setProblem(sentence(error))
      }
    } finally {
      setBusy(false)
    }
  }
  const submit = (event) => {
    event.preventDefault()
    const { email, password, code, master } = Object.fromEntries(new FormData(event.target))
    if (challenge) {
      const digits = code.replace(/\s/g, '')
      if (challenge.emailed) return run(() => signIn({ challenge: challenge.challenge, emailCode: digits }))
      return run(() => signIn({ challenge: challenge.challenge, ...(/^\d{6}$/.test(digits) ? { code: digits } : { recovery_code: code.trim() }) }))
    }
    return run(async () => {
      if (first) {
        await call('POST', '/users', { body: { email, password, role: 'admin' }, key: newKey(), masterKey: master })
        setFirst(false)
      }
      return signIn({ email, password }, service.masterKey ? master : undefined)
    })
  }
  const emailCode = ({ target: { form } }) => {
    const { email, master } = form.elements
    if ([email, master].every((field) => !field || field.reportValidity())) run(async () => ({ ...await signIn({ email: email.value }, master?.value), emailed: email.value }))
  }
  const passkey = ({ target: { form } }) => run(() => signIn({ passkey: true }, form.elements.master?.value))
  const provider = (chosen) => {
    waiting.current.abort()
    const { signal } = waiting.current = new AbortController()
    setProblem(undefined)
    askProvider(chosen, signal).then((proof) => run(() => signIn(proof)), (error) => signal.aborted || setProblem(sentence(error)))
  }
  const buttons = (label, cancel) => html`<footer>${cancel}<button class="main" aria-busy=${busy} disabled=${busy}>${label}</button></footer>`
  const failed = problem && html`<p class="note bad" role="alert">${problem}</p>`
  if (challenge) {
    const hint = challenge.emailed ? `If ${challenge.emailed} can sign in, the code is on its way.` : 'Of your authenticator app, or a recovery code.'
    return html`<form class="sign-in" onSubmit=${submit} key=${challenge.challenge}>${failed}
      <${TextField} label="Code" name="code" autocomplete="one-time-code" focus hint=${hint} />
      ${buttons('Continue', html`<button type="button" onClick=${() => { setProblem(undefined); setChallenge(undefined) }}>Back</button>`)}</form>`
  }
  const way = (label, onClick, key) => html`<button key=${key} type="button" disabled=${busy} onClick=${onClick}>${label}</button>`
  return html`<form class="sign-in" onSubmit=${submit} key="password">${failed}
    ${first && html`<p>This service has no administrator yet. Create the first one.</p>`}
    <${TextField} label="Email" name="email" type="email" autocomplete="username" value=${again?.email} readonly=${Boolean(again)} focus=${!again} />
    <${TextField} label="Password" name="password" type="password" autocomplete=${first ? 'new-password' : 'current-password'} focus=${Boolean(again)} />
    ${(service.masterKey || first) && html`<${TextField} label="Master key" name="master" type="password" autocomplete="off" required hint="The master key of the service (MASTER_KEY), in development in the file .env. The service asks for it unless PUBLIC_SIGNIN is true." />`}
    ${buttons(first ? 'Create administrator' : 'Sign in', onCancel && html`<button type="button" onClick=${onCancel}>Cancel</button>`)}
    ${!first && html`${service.emailCodes && way('Email me a code', emailCode)}
      ${service.passkeys && window.PublicKeyCredential && way('Sign in with a passkey', passkey)}
      ${providers.map((row) => way(`Continue with ${row.name}`, () => provider(row), row.id))}`}
    ${!first && !again && html`<p class="hint">To make a user an administrator, run <code>${service.name} admin EMAIL</code> in the directory of the service.</p>`}
  </form>`
}

/** The dialog that signs the admin in again, over whatever is open. */
export function SignInAgain() {
  const [open, setOpen] = useState()
  useEffect(() => {
    dialog.show = (options) => new Promise((resolve) => setOpen({ ...options, resolve }))
    return () => { dialog.show = undefined }
  }, [])
  const end = (result) => {
    setOpen(undefined)
    open.resolve(result)
  }
  useEffect(() => onSession(() => open && !open.stepUp && user()?.role === 'admin' && end(true)), [open]) // in another tab
  if (!open) return null
  return html`<${Dialog} title=${open.stepUp ? 'Confirm that it is you' : 'Sign in again'} onClose=${() => end(false)}>
    <p role=${open.message && 'alert'}>${open.message ? `${open.message} What you have entered is still here.` : open.stepUp ? 'This change needs a sign-in within the last 10 minutes.' : 'Your session has ended. What you have entered is still here.'}</p>
    <${SignIn} again=${owner()} onDone=${() => end(true)} onCancel=${() => end(false)} />
  </${Dialog}>`
}
