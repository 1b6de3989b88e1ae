// The address: a path and parameters after #, so that the page works below any path.

import { useState } from 'preact/hooks'
import { useEvent } from './ui.js'

let document
/** The API that the document describes. */
export const api = () => document
export const setApi = (read) => { document = read }

/** Returns the path and the parameters of the address. */
export function readAddress() {
  const [path, query = ''] = location.hash.slice(1).split('?')
  return { path: path || '/', query: new URLSearchParams(query) }
}

/** Returns the address of a path. Parameters that are undefined or empty are left out. */
export function hrefOf(path, query = {}) {
  const params = new URLSearchParams(query instanceof URLSearchParams ? query : Object.entries(query).filter(([, value]) => value !== undefined && value !== ''))
  return `#${path}${`${params}` && `?${params}`}`
}

export function go(path, query, { replace } = {}) {
  if (replace) {
    history.replaceState(null, '', hrefOf(path, query))
    window.dispatchEvent(new HashChangeEvent('hashchange'))
  } else {
    location.hash = hrefOf(path, query)
  }
}

export function useAddress() {
  const [address, setAddress] = useState(readAddress)
  useEvent('hashchange', () => setAddress(readAddress()))
  return address
}

/** The IDs of the list that was shown last, by its path: for the next and the previous record. */
export const lists = new Map()
