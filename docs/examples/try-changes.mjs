// Follows the articles of a local service until one with the title "the last one" was created. Run it by the guide: docs/changes.md.
import { Records } from './changes.mjs'

const articles = new Records('http://localhost:9000/articles')
const stop = new AbortController()
await articles.follow(stop.signal, ({ event, data }) => {
  console.log(event, data?.title ?? '', `(${articles.size} articles)`)
  if (data?.title === 'the last one') stop.abort()
})
