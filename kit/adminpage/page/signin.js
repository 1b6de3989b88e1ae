// Sign-in: with a password or a passkey, and a second factor. Also the dialog that signs in again.

import { useEffect, useState } from 'preact/hooks'
import { createAdmin, dialog, onSession, service, signIn, signOut, user } from './session.js'
import { Dialog, html } from './ui.js'

function TextField({ label, name, type = 'text', autocomplete, value, readonly, hint, focus }) {
  return html`<div class="stacked"><label for=${`sign-in-${name}`}>${label}</label>
    <input id=${`sign-in-${name}`} name=${name} type=${type} autocomplete=${autocomplete} defaultValue=${value} readonly=${readonly} required autofocus=${focus} dir="auto" aria-describedby=${hint && `hint-${name}`} />
    ${hint && html`<small id=${`hint-${name}`}>${hint}</small>`}</div>`
}

/** The form. again is the user who must sign in again. */
export function SignIn({ again, onDone, onCancel }) {
  const [problem, setProblem] = useState()
  const [challenge, setChallenge] = useState()
  const [busy, setBusy] = useState(false)
  const [first, setFirst] = useState(service.first && !again)
  const run = async (job) => {
    setBusy(true)
    setProblem(undefined)
    try {
      const signedIn = await job()
      if (signedIn.role !== 'admin') {
        await signOut()
        throw new Error('This account is not an administrator.')
      }
      onDone()
    } catch (error) {
      if (error.code === 'second_factor_required' && error.challenge) setChallenge(error.challenge)
      else {
        if (error.status === 401) setChallenge(undefined) // it has expired
        setProblem(error.status === 0 ? 'The service did not respond. Try again.' : error.detail ?? error.message)
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
      return run(() => signIn({ challenge, ...(/^\d{6}$/.test(digits) ? { code: digits } : { recovery_code: code.trim() }) }))
    }
    return run(async () => {
      if (first) {
        await createAdmin({ email, password }, master)
        setFirst(false)
      }
      return signIn({ email, password }, service.masterKey ? master : undefined)
    })
  }
  const buttons = (label) => html`<footer>${onCancel && html`<button type="button" onClick=${onCancel}>Cancel</button>`}<button class="main" aria-busy=${busy} disabled=${busy}>${label}</button></footer>`
  const failed = problem && html`<p class="note bad" role="alert">${problem}</p>`
  if (challenge) {
    return html`<form class="sign-in" onSubmit=${submit} key="code">${failed}
      <${TextField} label="Code" name="code" autocomplete="one-time-code" focus hint="Of your authenticator app, or a recovery code." />
      ${buttons('Continue')}</form>`
  }
  return html`<form class="sign-in" onSubmit=${submit} key="password">${failed}
    ${first && html`<p>This service has no administrator yet. Create the first one.</p>`}
    <${TextField} label="Email" name="email" type="email" autocomplete="username" value=${again?.email} readonly=${Boolean(again)} focus=${!again} />
    <${TextField} label="Password" name="password" type="password" autocomplete=${first ? 'new-password' : 'current-password'} focus=${Boolean(again)} />
    ${(service.masterKey || first) && html`<${TextField} label="Master key" name="master" type="password" autocomplete="off" hint="MASTER_KEY in the file .env. With PUBLIC_SIGNIN=true, sign-in needs none." />`}
    ${buttons(first ? 'Create administrator' : 'Sign in')}
    ${service.passkeys && !first && window.PublicKeyCredential && html`<button type="button" class="wide" disabled=${busy} onClick=${(event) => { const { master } = event.target.form; run(() => signIn({ passkey: true }, master?.value)) }}>Sign in with a passkey</button>`}
    ${!first && !again && html`<p class="hint">To make a user an administrator, run <code>${service.name} admin EMAIL</code> in the directory of the service.</p>`}
  </form>`
}

/** The dialog that signs the admin in again, over whatever is open. */
export function SignInAgain() {
  const [open, setOpen] = useState()
  const [last, setLast] = useState(user())
  useEffect(() => onSession(() => user() && setLast(user())), [])
  useEffect(() => {
    dialog.show = (stepUp) => new Promise((resolve) => setOpen({ stepUp, resolve }))
    return () => { dialog.show = undefined }
  }, [])
  if (!open) return null
  const end = (result) => {
    setOpen(undefined)
    open.resolve(result)
  }
  return html`<${Dialog} title=${open.stepUp ? 'Confirm that it is you' : 'Sign in again'} onClose=${() => end(false)}>
    <p>${open.stepUp ? 'This change needs a sign-in within the last 10 minutes.' : 'Your session has ended. What you have entered is still here.'}</p>
    <${SignIn} again=${last} onDone=${() => end(true)} onCancel=${() => end(false)} />
  </${Dialog}>`
}
