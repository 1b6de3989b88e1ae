/** A running service. */
export interface Service {
  address: string
  masterKey: string
  /** Resolves to the matching output of the service. */
  said(pattern: RegExp): Promise<RegExpMatchArray>
  /** Returns the code that an authenticator app shows for a secret, now or a number of steps later. */
  totp(secret: string, later?: number): string
}
