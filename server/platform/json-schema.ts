import { Ajv, type Schema, type ValidateFunction } from 'ajv'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import addFormats from 'ajv-formats'
import { hourMs, minuteMs } from './durations.ts'
import { asAjvValidator } from './fastify-internals.ts'

/** The service's only validator, for requests and everything else with a schema. */

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const instant =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](?:([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(\.\d{1,9})?)?|24:00(?::00(?:\.0{1,9})?)?)(?:[Zz]|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)$/

/**
 * Parses RFC 3339 and some other ISO 8601 formats: without seconds, `+0530`, `+05`, and 24:00. The day must exist, and
 * PostgreSQL and JavaScript must agree on the year.
 */
const readInstant = (text: string): Date | undefined => {
  const [, year, month, day, hour = '24', minute = '0', second = '0', fraction = '', sign, hours = '0', minutes = '0'] =
    instant.exec(text) ?? []
  if (year === undefined) return undefined
  // Date.UTC maps years up to 99 to the last century.
  const dayMs = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  const date = new Date(dayMs)
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined
  const timeMs = Number(hour) * hourMs + Number(minute) * minuteMs + Number(second) * 1_000
  const offsetMs = (Number(hours) * hourMs + Number(minutes) * minuteMs) * (sign === '-' ? -1 : 1)
  const read = new Date(dayMs + timeMs + Math.floor(Number(`0${fraction}`) * 1_000) - offsetMs)
  // The offset can move the time to another year.
  return Number(year) >= 1 && read.getUTCFullYear() >= 1 && read.getUTCFullYear() <= 9_999 ? read : undefined
}

/** The format that `Date` parses in every engine. */
const plainInstant = /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

/** Marks a time in a request. Unusual formats are converted to the standard one. */
export const instantKeyword = 'x-instant'

const build = (coerceTypes: boolean, allErrors = true): Ajv => {
  const ajv = new Ajv({
    allErrors,
    coerceTypes,
    useDefaults: true,
    strict: false,
    multipleOfPrecision: 9,
    discriminator: true,
  })
  addFormats.default(ajv, ['email', 'uri'])
  ajv.addFormat('uuid', uuid)
  ajv.addFormat('date-time', (text) => readInstant(text) !== undefined)
  ajv.addKeyword({
    keyword: instantKeyword,
    type: 'string',
    schemaType: 'boolean',
    modifying: true,
    errors: false,
    validate: (_isInstant: boolean, text: string, _schema?: unknown, at?: DataValidationCxt) => {
      const read = plainInstant.test(text) ? undefined : readInstant(text)
      if (read && at) at.parentData[at.parentDataProperty] = read.toISOString()
      return true
    },
  })
  return ajv
}

// JSON bodies contain typed values. A query string only contains text, so its numbers and booleans are parsed.
export const strict = build(false)
export const coercing = build(true)
const untilFirst = build(false, false)

/**
 * If a value has more parts than this, only its first error is reported. A body with millions of parts could have as
 * many errors, and each one is an object in memory.
 */
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

/** Returns a validator that is compiled on first use, because a service rarely or never uses most of its schemas. */
export const compileLater = <T = unknown>(compile: () => ValidateFunction<T>): ValidateFunction<T> => {
  let validate: ValidateFunction<T> | undefined
  const check = (value: unknown, context?: Parameters<ValidateFunction<T>>[1]): value is T => {
    validate ??= compile()
    const fits = validate(value, context)
    check.errors = validate.errors
    return fits
  }
  check.errors = undefined as ValidateFunction<T>['errors']
  return asAjvValidator<T>(check)
}

/** Returns a validator that finds all errors, or only the first error in a very large value. */
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
  return asAjvValidator<T>(check)
}
