// Keeps a collection of TanStack DB up to date with the changes of a resource. See docs/changes.md.

/**
 * Returns the options of createCollection for a resource with changes, such as api.articles. The collection lists the records and follows their
 * changes while it has subscribers. filters are those of follow and all, such as { userId }.
 */
export function followOptions(resource, filters) {
  return {
    getKey: ({ id }) => id,
    sync: {
      rowUpdateMode: 'full', // an event has the whole record
      sync({ begin, write, commit, truncate, markReady, markError }) {
        const stop = new AbortController()
        const ids = new Set()
        const followed = resource.follow({
          ...filters,
          signal: stop.signal,
          async onResync() {
            const rows = []
            for await (const record of resource.all(filters)) rows.push(record)
            begin()
            truncate()
            ids.clear()
            for (const value of rows) {
              write({ type: 'insert', value })
              ids.add(value.id)
            }
            commit()
            markReady()
          },
          onChange({ event, data }) {
            const known = ids.has(data.id) // a change during the list is in both
            begin()
            if (event !== 'deleted') write({ type: known ? 'update' : 'insert', value: data })
            else if (known) write({ type: 'delete', key: data.id })
            commit()
            if (event === 'deleted') ids.delete(data.id)
            else ids.add(data.id)
          },
        })
        followed.catch(markError) // 403, 404
        return () => stop.abort()
      },
    },
  }
}
