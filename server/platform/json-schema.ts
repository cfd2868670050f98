import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'

/** The one validator of the product: of requests, and of whatever else is checked by a schema. */

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const instant =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** RFC 3339 without leap seconds, for a day that exists, in years that PostgreSQL and JavaScript agree on. */
const isInstant = (text: string): boolean => {
  const parts = instant.exec(text)
  if (!parts) return false
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  const date = new Date(Date.UTC(year, month - 1, day))
  // An offset can carry the instant into the year before or after the one that is written.
  const utcYear = new Date(text).getUTCFullYear()
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && utcYear >= 1 && utcYear <= 9_999
}

const build = (coerceTypes: boolean): Ajv => {
  const ajv = new Ajv({ allErrors: true, coerceTypes, useDefaults: true, strict: false, multipleOfPrecision: 9 })
  addFormats.default(ajv, ['email', 'uri'])
  ajv.addFormat('uuid', uuid)
  ajv.addFormat('date-time', isInstant)
  return ajv
}

// Bodies say what they mean; a query string can only hold text, so there numbers and booleans are read from it.
export const strict = build(false)
export const coercing = build(true)
