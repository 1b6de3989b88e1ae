// Deletion with undo: the request is sent 10 seconds later, or when the page is left.

import { call, sendLast } from './session.js'
import { toast } from './ui.js'

const UNDO = 10_000 // ms
const waiting = new Map()
const listeners = new Set()
const notify = () => listeners.forEach((listener) => listener())

/** Reports whether a record is about to be deleted. */
export const isTrashed = (path) => waiting.has(path)

export const onTrash = (listener) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Deletes the record at the path, unless the admin undoes it. onUndo is called then. */
export function trash(path, etag, label, onUndo) {
  const end = async () => {
    if (!waiting.delete(path)) return
    try {
      await call('DELETE', path, { etag })
    } catch (problem) {
      const text = problem.status === 412 ? 'somebody else has changed it.' : problem.detail
      if (problem.status !== 404) toast(`“${label}” was not deleted: ${text}`, { bad: true, time: 15_000 })
    }
    notify()
  }
  const undo = () => {
    waiting.delete(path)
    notify()
    onUndo?.()
  }
  waiting.set(path, { etag })
  notify()
  toast(`“${label}” is deleted.`, { time: UNDO, onEnd: end, action: { label: 'Undo', run: undo, dismiss: end } })
}

addEventListener('pagehide', () => {
  for (const [path, { etag }] of waiting) sendLast('DELETE', path, etag)
  waiting.clear()
})
