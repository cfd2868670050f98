import { Ajv, type Schema, type ValidateFunction } from 'ajv'
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

const build = (coerceTypes: boolean, allErrors = true): Ajv => {
  const ajv = new Ajv({ allErrors, coerceTypes, useDefaults: true, strict: false, multipleOfPrecision: 9 })
  addFormats.default(ajv, ['email', 'uri'])
  ajv.addFormat('uuid', uuid)
  ajv.addFormat('date-time', isInstant)
  return ajv
}

// Bodies say what they mean; a query string can only hold text, so there numbers and booleans are read from it.
export const strict = build(false)
export const coercing = build(true)
const untilFirst = build(false, false)

/** Of so many parts at most all faults are told. A body of millions could have as many, each an object in memory. */
const mostParts = 10_000

const isLarge = (value: unknown): boolean => {
  let left = mostParts
  const count = (part: unknown): void => {
    left--
    if (typeof part !== 'object' || part === null) return
    for (const name in part) {
      if (left <= 0) return
      count(part[name as keyof typeof part])
    }
  }
  count(value)
  return left <= 0
}

/** Fastify calls a validator of this library by its own rules, and knows it by this property. */
const knownByFastify = { schemaEnv: {} }

/** A validator that is compiled when it is first asked: most of a service's schemas wait for long, many for ever. */
export const compileLater = <T = unknown>(compile: () => ValidateFunction<T>): ValidateFunction<T> => {
  let validate: ValidateFunction<T> | undefined
  const check = (value: unknown, context?: Parameters<ValidateFunction<T>>[1]): value is T => {
    validate ??= compile()
    const fits = validate(value, context)
    check.errors = validate.errors
    return fits
  }
  check.errors = undefined as ValidateFunction<T>['errors']
  return Object.assign(check, knownByFastify) as unknown as ValidateFunction<T>
}

/** Finds all faults of what people send, and the first one of what is too large to look on. */
export const compileStrict = <T = unknown>(schema: Schema): ValidateFunction<T> => {
  const findFirst = compileLater(() => untilFirst.compile<T>(schema))
  const findAll = compileLater(() => strict.compile<T>(schema))
  const check = (value: unknown): value is T => {
    if (findFirst(value)) return true
    if (isLarge(value)) check.errors = findFirst.errors
    else {
      findAll(value)
      check.errors = findAll.errors
    }
    return false
  }
  check.errors = findFirst.errors
  return Object.assign(check, knownByFastify) as unknown as ValidateFunction<T>
}
