// Rows that follow the changes of a resource, while the page is visible.

import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from './session.js'

const INTERVAL = 5000 // ms

/** Polls the changes of a list. Shown rows are replaced; created records are only counted, so that no row moves. */
export function useLiveRows(resource, path, list) {
  const [fresh, setFresh] = useState(0)
  const [changed, setChanged] = useState(new Set())
  const newest = useRef()
  newest.current = list
  useEffect(() => {
    setFresh(0)
    if (!resource.changes) return undefined
    const stop = new AbortController()
    const { signal } = stop
    let after
    const poll = async () => {
      if (document.visibilityState !== 'visible') return
      const { rows, next, resync } = await call('GET', `${path}/changes`, { query: { after, etags: true }, signal, quiet: true })
      const first = !after
      after = next
      if (first) return
      if (resync) return newest.current.reload()
      apply(rows)
    }
    const apply = (events) => {
      const created = events.filter(({ event }) => event === 'created').length
      if (created) setFresh((count) => count + created)
      const updates = new Map(events.filter(({ event }) => event === 'updated').map(({ data }) => [data.id, data]))
      const gone = new Set(events.filter(({ event }) => event === 'deleted').map(({ data }) => data.id))
      if (!updates.size && !gone.size) return
      setChanged(new Set(updates.keys()))
      newest.current.setData((page) => page && {
        ...page, rows: page.rows.filter((row) => !gone.has(row.id)).map((row) => (updates.has(row.id) ? { ...row, ...updates.get(row.id) } : row)),
      })
    }
    const timer = setInterval(() => poll().catch(() => {}), INTERVAL)
    poll().catch(() => {})
    return () => {
      clearInterval(timer)
      stop.abort()
    }
  }, [path])
  return { fresh, changed, show: () => { setFresh(0); list.reload() } }
}
