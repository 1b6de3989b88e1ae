// Deletion with undo: the request is sent 10 seconds later, or when the page is left.

import { call, sendLast } from './session.js'
import { toast } from './ui.js'

const UNDO = 10_000 // ms
const waiting = new Map()
const listeners = new Set()
const notify = (deleted) => listeners.forEach((listener) => listener(deleted))

/** Reports whether a record is about to be deleted. */
export const isTrashed = (path) => waiting.has(path)

/** Calls listener when a record is about to be deleted or is not any more. It gets the path of a record that was deleted. */
export const onTrash = (listener) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Sends the deletions that wait. Resolves when they have ended. */
export const flush = () => Promise.all([...waiting.values()].map(({ end }) => end()))

/** Deletes the record at the path, unless the admin undoes it. onUndo is called then. */
export function trash(path, etag, label, onUndo) {
  const send = async () => {
    let deleted = path
    try {
      await call('DELETE', path, { etag })
    } catch (problem) {
      const text = problem.status === 412 ? 'it was changed in the meantime.' : problem.detail
      if (problem.status !== 404) {
        deleted = undefined
        toast(`“${label}” was not deleted: ${text}`, { bad: true, time: 15_000 })
      }
    }
    waiting.delete(path)
    notify(deleted)
  }
  let sent
  const end = () => (sent ??= send())
  const undo = () => {
    waiting.delete(path)
    notify()
    toast(`“${label}” is restored.`)
    onUndo?.()
  }
  waiting.set(path, { etag, end })
  notify()
  toast(`“${label}” is deleted.`, { time: UNDO, onEnd: end, action: { label: 'Undo', run: undo, dismiss: end } })
}

addEventListener('pagehide', () => {
  for (const [path, { etag }] of waiting) sendLast('DELETE', path, etag)
  waiting.clear()
})
