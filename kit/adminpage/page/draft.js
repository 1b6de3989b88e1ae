// The state of a form. Its changes are kept in the session storage, so that a reload or another screen does not lose them.

import { useEffect, useRef, useState } from 'preact/hooks'
import { toast, useEvent } from './ui.js'
import { readInvalid } from './fields.js'

const prefix = 'draft of '

function readDraft(key) {
  if (!key) return null
  try { return JSON.parse(sessionStorage.getItem(prefix + key), readInvalid) } catch { return null }
}

/** Begins a form with values. */
export function keepDraft(key, edits) {
  sessionStorage.setItem(prefix + key, JSON.stringify({ edits }))
  window.dispatchEvent(new Event('drafts'))
}

export const dropDraft = (key) => sessionStorage.removeItem(prefix + key)

/** Returns the paths of the forms with changes that are not saved. */
export const drafts = () => Object.keys(sessionStorage).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length))

const told = new Set()
/** Says once for each form that its changes are kept when another screen opens. */
export function useKept(key, label) {
  const newest = useRef()
  newest.current = label
  useEffect(() => () => {
    if (told.has(key) || !drafts().includes(key)) return
    told.add(key)
    toast(`Your changes of ${newest.current} are kept. They are not saved yet.`)
  }, [key])
}

/** Reports whether two values are the same in JSON. */
export const same = (a, b) => a === b || JSON.stringify(a ?? null) === JSON.stringify(b ?? null)

/** Returns the changes of a form with the fields. Without a key, they are not kept. base is the record that they change, and etag its version; initial is a record that does not change. */
export function useEdits(key, fields, initial) {
  const kept = useRef()
  kept.current ??= { found: readDraft(key) }
  const state = useRef()
  state.current ??= { edits: kept.current.found?.edits ?? {}, base: initial ?? kept.current.found?.base, etag: kept.current.found?.etag }
  const [, redraw] = useState(0)
  const secret = (name) => fields.find((field) => field.name === name)?.type === 'password'
  const store = () => {
    if (!key) return redraw((n) => n + 1)
    const edits = Object.fromEntries(Object.entries(state.current.edits).filter(([name]) => !secret(name)))
    try {
      if (Object.keys(edits).length) sessionStorage.setItem(prefix + key, JSON.stringify({ ...state.current, edits, at: Date.now() }))
      else dropDraft(key)
    } catch {} // the storage is full
    redraw((n) => n + 1)
    window.dispatchEvent(new Event('drafts'))
  }
  const set = (changes) => {
    Object.assign(state.current, changes)
    store()
  }
  useEvent('beforeunload', (event) => { if (key && Object.keys(state.current.edits).length) event.preventDefault() })
  return {
    get edits() { return state.current.edits },
    get base() { return state.current.base },
    get etag() { return state.current.etag },
    restored: kept.current.found?.at,
    /** Sets a field. The value of the record is no change, but null and an empty field differ from no value. */
    change(name, value) {
      const { [name]: _, ...rest } = state.current.edits
      const base = state.current.base
      const unchanged = base ? same(value, base[name]) || (value === undefined && base[name] === '') : value === undefined
      set({ edits: unchanged ? rest : { ...rest, [name]: value === undefined ? null : value } })
    },
    setEdits: (edits) => set({ edits }),
    /** Sets the record that the form changes. */
    rebase: (base, etag) => set({ base, etag }),
    /** Ends the edits that are stored in the record. What the admin has entered since stays, also a return to the former value. */
    saved(sent, record, etag) {
      const { edits, base } = state.current
      const former = Object.fromEntries(Object.keys(sent).map((name) => [name, base?.[name] ?? null]))
      kept.current.found = null
      set({ edits: Object.fromEntries(Object.entries({ ...former, ...edits }).filter(([name, value]) => !(name in sent && same(value, sent[name])))), base: record, etag })
    },
    reset() {
      kept.current.found = null
      set({ edits: {} })
    },
  }
}
