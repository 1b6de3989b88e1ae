// A list of all articles that stays up to date. All tabs share one connection. See docs/changes.md.
import { createClient } from '../client/index.js'

const api = createClient({ url: document.documentElement.dataset.api })
const list = document.querySelector('ul')
const status = document.querySelector('[role=status]')
const items = new Map() // the elements, by the ID of their article

function show({ id, title }) {
  if (!items.has(id)) items.set(id, list.appendChild(document.createElement('li')))
  items.get(id).textContent = title
}

function remove({ id }) {
  items.get(id)?.remove()
  items.delete(id)
}

try {
  await api.articles.follow({
    async onResync() {
      const articles = []
      for await (const article of api.articles.all({ fields: ['title'] })) articles.push(article)
      items.clear()
      list.replaceChildren()
      articles.forEach(show)
      status.textContent = `${items.size} articles`
    },
    onChange({ event, data }) {
      if (event === 'deleted') remove(data)
      else show(data)
      status.textContent = `${items.size} articles`
    },
  })
} catch (problem) {
  status.textContent = problem.message
}
