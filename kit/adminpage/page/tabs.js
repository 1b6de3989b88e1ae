// The session in the session storage, shared with the other tabs of the page through a BroadcastChannel: the local storage has no tokens.
//
// The service ends a session if a refresh token is used more than 30 s after it was replaced. Therefore a tab without a session, or whose token has
// expired, first asks the other tabs for a newer one: the browser can have suspended, restored or duplicated the tab.

const WAIT = 2000 // ms for the responses of other tabs
const WAIT_UNKNOWN = 300 // ms, without Web Locks, as in pages without TLS: there may be no other tab
const AGAIN = 1000 // ms after which a tab asks again

function parse(text) {
  try { return JSON.parse(text ?? 'null') ?? {} } catch { return {} }
}

/** Returns the ID of the admin of a state, which a client has stored. Other users have no session in the page. */
function adminOf(text) {
  const { user } = parse(text)
  return user?.role === 'admin' ? user.id : undefined
}

/**
 * Resolves to the storage for the state of a client, with the owner of the page: the first user since it was loaded. onReceive is called if a session
 * begins, continues or, with true, ends in another tab.
 */
export async function shareSession(key, onReceive) {
  const ownKey = `tabs of ${key}` // also the name of a lock, which each tab has
  const channel = new BroadcastChannel(key)
  const read = () => sessionStorage.getItem(key)
  const expired = () => !read() || Date.now() >= (parse(read()).refreshAt ?? Infinity)
  let { time = 0, admin } = parse(sessionStorage.getItem(ownKey)) // of the state; the last one of this tab, who may have left drafts
  let owner = parse(read()).user
  let asking, asked = 0, onResponse

  function store(text, newTime) {
    const { user } = parse(text)
    if (!owner && user && admin && user.id !== admin) sessionStorage.clear() // the drafts of the former admin
    if (text) sessionStorage.setItem(key, text)
    else sessionStorage.removeItem(key)
    time = newTime
    owner ??= user
    admin = owner?.id ?? admin // the forms of this page are those of its owner
    sessionStorage.setItem(ownKey, JSON.stringify({ time, admin }))
  }

  /** Stores a state of this tab, and sends it to the others. */
  function share(text) {
    const user = adminOf(text ?? read())
    store(text, Math.max(Date.now(), time + 1))
    if (user) channel.postMessage({ user, text, time })
  }

  /** Stores a state of another tab, unless it is older or of another admin, who must not save the forms of this tab. */
  function receive({ user, text, time: sent }) {
    if (!user || sent <= time || (admin ? user !== admin : !text)) return
    store(text, sent)
    dispatchEvent(new Event('storage')) // the client reads it
    onReceive(!text)
  }

  async function ask() {
    const { held } = await navigator.locks?.query() ?? {}
    let left = held ? held.filter(({ name }) => name === ownKey).length - 1 : Infinity
    if (left > 0) {
      await new Promise((resolve) => {
        onResponse = () => { if (--left === 0) resolve() }
        setTimeout(resolve, held ? WAIT : WAIT_UNKNOWN)
        channel.postMessage({ ask: true })
      })
    }
    asked = Date.now()
    asking = undefined
  }

  function getItem() {
    if (!expired() || (!asking && Date.now() - asked < AGAIN)) return read()
    asking ??= ask()
    return asking.then(read)
  }

  channel.onmessage = ({ data }) => {
    if (data.ask) return channel.postMessage({ response: true, user: admin, text: admin && admin === adminOf(read()) ? read() : null, time })
    receive(data)
    if (data.response) onResponse?.()
  }
  // The lock is kept until the page is closed. Browsers suspend no page that has one.
  await new Promise((resolve) => (navigator.locks ? navigator.locks.request(ownKey, { mode: 'shared' }, () => { resolve(); return new Promise(() => {}) }) : resolve()))
  await getItem()
  return { getItem, setItem: (_, text) => share(text), removeItem: () => share(null), get owner() { return owner } }
}
