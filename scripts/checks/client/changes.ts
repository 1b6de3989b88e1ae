import assert from 'node:assert/strict'
import { follow } from './guide/follow.js'
import { create } from './guide/page.js'
import { type Service, signUp } from './account.js'

/** A list that follows the changes with a session, whose access token is refreshed. */
export async function run(service: Service) {
  const { session, signedIn, user } = await signUp(service, 'barbara@example.com', 'analytical engine')
  await session.take({ ...signedIn, token: 'invalid' })
  const stop = new AbortController()
  let known = false // whether the list was loaded
  let titles: string[] = []
  await follow(service.address, session, stop.signal, (articles) => {
    titles = articles.map((article) => article.title)
    if (titles.includes('On changes')) stop.abort()
    if (!known) void create(user, { title: 'On changes' })
    known = true
  })
  assert.ok(titles.includes('On changes'))
  await session.signOut()
  await assert.rejects(follow(service.address, session, new AbortController().signal, () => {}), { status: 401 })
}
