import { randomFillSync } from 'node:crypto'
import type { OrgId } from './db/database.ts'

const random = new Uint8Array(8 * 1024)
let used = random.length
let lastMs = 0
let counter = 0

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Returns a UUIDv7: 48 bits of milliseconds, a counter in the next 12 bits so that the IDs of one process strictly
 * ascend, and 62 random bits.
 */
export const newId = (): string => {
  const nowMs = Date.now()
  if (nowMs > lastMs) {
    lastMs = nowMs
    counter = 0
  } else if (++counter > 0xfff) {
    // 4,096 IDs were created in one millisecond, so this uses the next millisecond instead of repeating an ID or going
    // back.
    lastMs++
    counter = 0
  }
  if (used + 8 > random.length) {
    randomFillSync(random)
    used = 0
  }
  const time = lastMs.toString(16).padStart(12, '0')
  const count = counter.toString(16).padStart(3, '0')
  const byte = (index: number) => hex[random[used + index] as number]
  const variant = hex[((random[used] as number) & 0x3f) | 0x80]
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${variant}${byte(1)}-${byte(2)}${byte(3)}${byte(4)}${byte(5)}${byte(6)}${byte(7)}`
  used += 8
  return id
}

/** Returns a bound for data ordered by ID. No ID that is created at or after this time is lower. */
export const lowestIdAt = (instant: Date): string => {
  const time = instant.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Casts an ID to the type of organization IDs. The caller must know that it is one, for example because it comes from a
 * stored key.
 */
export const orgIdOf = (id: string): OrgId => {
  if (!uuidForm.test(id)) throw new TypeError('This is not an organization ID.')
  return id as OrgId
}
