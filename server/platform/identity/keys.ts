import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * A key consists of `ear_`, 32 random base62 characters (190 bits), and a checksum of 6 characters. Secret scanners
 * recognize it, and a mistyped key is rejected without a lookup.
 */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const form = /^ear_[0-9A-Za-z]{38}$/
const bodyLength = 'ear_'.length + 32

const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < 6; i++) {
    digits = alphabet[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

export const generateKey = (): string => {
  let key = 'ear_'
  for (let i = 0; i < 32; i++) key += alphabet[randomInt(62)]
  return key + checksum(key)
}

export const isKeyShaped = (text: string): boolean =>
  form.test(text) && text.slice(bodyLength) === checksum(text.slice(0, bodyLength))

/** Returns the base64 form in which a key is stored. A random 190-bit key needs no slow hash. */
export const hashKey = (key: string): string => hash('sha256', key, 'base64')

/** Returns the portion of a key that can be shown later. */
export const keyPrefix = (key: string): string => key.slice(0, 8)
