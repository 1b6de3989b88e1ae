// Calls that must not compile: a line below such a comment that compiles is an error. Nothing here is run.

import { type Api, type Schemas, data } from './guide/api.js'
import type { operations } from './guide/schema.js'

export async function calls(api: Api) {
  // @ts-expect-error: there is no such route
  await api['/article'].GET()
  // @ts-expect-error: there is no such method
  await api['/articles'].DELETE()
  // @ts-expect-error: a title is required
  await api['/articles'].POST({ body: { content: 'A root worth waiting for.' } })
  // @ts-expect-error: a body is required
  await api['/articles'].POST()
  // @ts-expect-error: a title is a string
  await api['/articles'].POST({ body: { title: 1 } })
  // @ts-expect-error: there is no such field
  await api['/articles'].POST({ body: { title: 'On ginseng', author: 'Ada' } })
  // @ts-expect-error: there is no such role
  await api['/users'].POST({ body: { email: 'ada@example.com', password: 'analytical engine', role: 'root' } })
  // @ts-expect-error: the id is missing
  await api['/articles/{id}'].GET()
  // @ts-expect-error: the id is a path parameter
  await api['/articles/{id}'].GET({ params: { path: { id: '' }, query: { id: '' } } })
  // @ts-expect-error: there is no such header here
  await api['/articles'].GET({ params: { header: { 'If-Match': '"1"' } } })
}

export async function lists(api: Api) {
  // @ts-expect-error: a limit is a number
  await api['/articles'].GET({ params: { query: { limit: '10' } } })
  // @ts-expect-error: there is no such parameter
  await api['/articles'].GET({ params: { query: { search: 'roots' } } })
  // @ts-expect-error: there is no such parameter beside limit
  await api['/articles'].GET({ params: { query: { limit: 10, offset: 10 } } })
  // @ts-expect-error: title is not a filter
  await api['/articles'].GET({ params: { query: { limit: 10, title: 'On ginseng' } } })
  // @ts-expect-error: userId supports no comparison
  await api['/articles'].GET({ params: { query: { limit: 10, 'userId[gt]': '' } } })
  // @ts-expect-error: articles cannot be sorted by their content
  await api['/articles'].GET({ params: { query: { sort: ['content'] } } })
  // @ts-expect-error: there is no such field
  await api['/articles'].GET({ params: { query: { fields: ['author'] } } })
}

export async function responses(api: Api) {
  const page = data(await api['/articles'].GET())
  // @ts-expect-error: next is optional
  page.next.length
  // @ts-expect-error: there is no such field
  page.total
  const article = data(await api['/articles/{id}'].GET({ params: { path: { id: '' } } }))
  // @ts-expect-error: times are strings
  article.createdAt.getTime()
  // @ts-expect-error: email is optional
  data(await api['/users/{id}'].GET({ params: { path: { id: '' } } })).email.length
}

export async function errors(api: Api) {
  const { data, error } = await api['/articles'].POST({ body: { title: '' } })
  // @ts-expect-error: data is optional
  data.title
  // @ts-expect-error: there is no such code
  if (error?.code === 'invalid') return
  // @ts-expect-error: errors is optional
  error?.errors.length
  // @ts-expect-error: there is no such code of a parameter
  if (error?.errors?.[0]?.code === 'missing') return
}

// @ts-expect-error: the operation has no status 200
export type Undocumented = operations['postArticles']['responses'][200]
// @ts-expect-error: there is no such schema
export type Unknown = Schemas['Articles']
