import { type Schemas, connect, data } from './guide/api.js'
import { Session } from './guide/session.mjs'

/** A running service. */
export interface Service {
  address: string
  masterKey: string
  /** Resolves to the matching output of the service. */
  said(pattern: RegExp): Promise<RegExpMatchArray>
  /** Returns the code that an authenticator app shows for a secret, now or a number of steps later. */
  totp(secret: string, later?: number): string
}

/** Signs in as a trusted server with the master key. */
export function signIn(service: Service, email: string, password: string) {
  return connect(service.address)['/auth'].POST({
    headers: { Authorization: `Basic ${btoa(`${email}:${password}`)}` },
    body: { access_token: service.masterKey },
  })
}

/** Signs a user up and in; returns the user, the sign-in response, the session and its client. */
export async function signUp(service: Service, email: string, password: string, role?: Schemas['User']['role']) {
  const headers = { Authorization: `Bearer ${service.masterKey}` }
  const body = { email, password, ...(role && { role }) }
  const created = data(await connect(service.address)['/users'].POST({ headers, body }))
  const signedIn = data(await signIn(service, email, password))
  const session = new Session(service.address)
  await session.take(signedIn)
  return { created, signedIn, session, user: connect(service.address, session) }
}
