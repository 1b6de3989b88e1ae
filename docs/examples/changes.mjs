// Keeps the articles of a local service in memory, until one with the title "the last one" was created. Run it by the guide: docs/changes.md.
import { createClient } from '../../clients/typescript/index.js'

const api = createClient({ url: 'http://localhost:9000' })
const articles = new Map()
const stop = new AbortController()

await api.articles.follow({
  signal: stop.signal,
  async onResync() {
    articles.clear()
    for await (const article of api.articles.all()) articles.set(article.id, article)
    console.log(`loaded (${articles.size} articles)`)
    if ([...articles.values()].some(({ title }) => title === 'the last one')) stop.abort()
  },
  onChange({ event, data }) {
    if (event === 'deleted') articles.delete(data.id)
    else articles.set(data.id, data)
    console.log(event, data.title ?? '', `(${articles.size} articles)`)
    if (data.title === 'the last one') stop.abort()
  },
})
