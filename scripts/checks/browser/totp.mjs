// Computes codes as an authenticator app does (RFC 6238: SHA-1, 30 seconds, 6 digits).

import { createHmac } from 'node:crypto'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Returns the code of a base32 secret, now or a number of steps of 30 seconds later. */
export function totp(secret, later = 0) {
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later))
  const hash = createHmac('sha1', key).update(step).digest()
  const number = hash.readUInt32BE(hash[19] & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}
