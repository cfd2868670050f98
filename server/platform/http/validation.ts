import type { ErrorObject, ValidateFunction } from 'ajv'
import fastJsonStringify from 'fast-json-stringify'
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, type Issue } from '../errors.ts'
import { asAjvValidator } from '../fastify-internals.ts'
import { coercing, compileLater, compileStrict } from '../json-schema.ts'
import type { JsonSchema } from './examples.ts'

/** The maximum number of issues in a response, because nobody reads more. */
export const maxIssues = 100

/** Converts the pointer `/config/monitors/0/id` to `config.monitors[0].id`. */
const readablePath = (pointer: string, property?: string): string => {
  const parts = pointer.split('/').slice(1)
  if (property !== undefined) parts.push(property)
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '')
}

const types: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
}

const formats: Record<string, string> = {
  uuid: 'a UUID',
  'date-time': 'an ISO 8601 date and time with an offset or Z',
  email: 'an email address',
  uri: 'a URL',
}

const count = (limit: number, one: string, many: string): string => `${limit} ${limit === 1 ? one : many}`
const characters = (limit: number) => count(limit, 'character', 'characters')
const items = (limit: number) => count(limit, 'item', 'items')
const properties = (limit: number) => count(limit, 'property', 'properties')

/** The messages by JSON Schema keyword. They replace the validator's own messages. */
const messages: Record<string, (params: ErrorObject['params']) => string> = {
  required: () => 'is required',
  additionalProperties: () => 'is not a known property',
  enum: ({ allowedValues }) => `must be one of ${allowedValues.join(', ')}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((name) => types[name])
      .join(' or ')}`,
  // The message never contains a regular expression, because the API reference describes the format in words.
  pattern: ({ pattern }) =>
    pattern === '\\S' ? 'must not be blank' : 'must have the format that the API reference describes',
  format: ({ format }) => `must be ${formats[format] ?? `a valid ${format}`}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${characters(limit)}`),
  maxLength: ({ limit }) => `must have at most ${characters(limit)}`,
  minItems: ({ limit }) => `must have at least ${items(limit)}`,
  maxItems: ({ limit }) => `must have at most ${items(limit)}`,
  uniqueItems: ({ i, j }) => `must not repeat items, but items ${i} and ${j} are equal`,
  minProperties: ({ limit }) => `must have at least ${properties(limit)}`,
  maxProperties: ({ limit }) => `must have at most ${properties(limit)}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  exclusiveMinimum: ({ limit }) => `must be greater than ${limit}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${limit}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${multipleOf}`,
  propertyNames: ({ propertyName }) => `must not have the key ${JSON.stringify(propertyName)}`,
}

const fallbackMessage = 'must have one of the formats that the API reference describes'

const describe = ({ keyword, instancePath, params, propertyName }: ErrorObject): Issue => {
  const message = messages[keyword]?.(params) ?? fallbackMessage
  return {
    path: readablePath(instancePath, params.missingProperty ?? params.additionalProperty),
    message: propertyName === undefined ? message : `keys ${message}`,
  }
}

export const toIssues = (errors: ErrorObject[]): Issue[] => {
  const issues = errors
    .filter(({ keyword }) => keyword !== 'if')
    .slice(0, maxIssues)
    .map(describe)
  if (errors.length > maxIssues) issues.push({ path: '', message: `and ${errors.length - maxIssues} more` })
  return issues
}

/**
 * The format of numbers in a query string. Other formats that JavaScript accepts, such as `0x10` or ` 1`, are rejected.
 */
const decimal = /^-?\d+(?:\.\d+)?$/

const compileQuery = (schema: JsonSchema): ValidateFunction => {
  const validate = compileLater(() => coercing.compile(schema))
  const numbers = Object.entries(schema.properties ?? {})
    .filter(([, { type }]) => type === 'integer' || type === 'number')
    .map(([name]) => name)
  if (numbers.length === 0) return validate
  const check = (query: Record<string, unknown>, context?: Parameters<ValidateFunction>[1]) => {
    for (const name of numbers) {
      const text = query[name]
      // An array can't become a number, so the validator reports the wrong type.
      if (typeof text === 'string' && !decimal.test(text)) query[name] = [text]
    }
    const fits = validate(query, context)
    check.errors = validate.errors
    return fits
  }
  check.errors = validate.errors
  return asAjvValidator(check)
}

export const addValidation = (app: FastifyInstance): void => {
  app.setValidatorCompiler(({ schema, httpPart }) => {
    // All routes declare their schemas with TypeBox.
    const declared = schema as JsonSchema
    if (httpPart === 'querystring') return compileQuery(declared)
    return httpPart === 'body' ? compileStrict(declared) : compileLater(() => coercing.compile(declared))
  })
  app.setSerializerCompiler(({ schema }) => {
    let serialize: ReturnType<typeof fastJsonStringify> | undefined
    return (value) => {
      serialize ??= fastJsonStringify(schema as JsonSchema)
      return serialize(value)
    }
  })
}

const parts = { params: 'params', body: 'body', querystring: 'query' } as const

/** Returns the issues in all parts of a request, because Fastify stops at the first part that is invalid. */
export const validationError = (request: FastifyRequest, error: FastifyError): ApiError => {
  const errors = (error.validation ?? []) as ErrorObject[]
  const order = Object.keys(parts) as (keyof typeof parts)[]
  for (const part of order.slice(order.indexOf(error.validationContext as keyof typeof parts) + 1)) {
    const validate = request.getValidationFunction(part) as ValidateFunction | undefined
    if (validate && !validate(request[parts[part]] ?? null)) errors.push(...(validate.errors ?? []))
  }
  const issues = toIssues(errors)
  const [first] = issues
  const message = `${first?.path || 'The body'} ${first?.message ?? fallbackMessage}`
  return new ApiError('invalid', issues.length > 1 ? `${message}, and ${issues.length - 1} more` : message, { issues })
}
