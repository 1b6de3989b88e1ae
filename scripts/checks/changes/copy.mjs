// A copy of the articles that the client of clients/typescript keeps up to date, in Node.js and in pages.

/**
 * Keeps the titles of all articles, by ID, until the signal aborts. Calls note with loaded after each list, and with the event and its data after
 * each change.
 */
export function keep(api, titles, note, signal) {
  return api.articles.follow({
    signal,
    async onResync() {
      const next = new Map()
      for await (const { id, title } of api.articles.all({ sort: ['createdAt'] })) next.set(id, title)
      titles.clear()
      for (const entry of next) titles.set(...entry)
      note('loaded')
    },
    onChange({ event, data }) {
      if (event === 'deleted') titles.delete(data.id)
      else titles.set(data.id, data.title)
      note(event, data)
    },
  })
}
