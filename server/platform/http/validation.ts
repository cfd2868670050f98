import type { ErrorObject, ValidateFunction } from 'ajv'
import fastJsonStringify from 'fast-json-stringify'
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, type Issue } from '../errors.ts'
import { coercing, compileLater, compileStrict } from '../json-schema.ts'
import type { JsonSchema } from './examples.ts'

/** A body can hold more faults than anyone reads; the first ones suffice. */
export const maxIssues = 100

/** `/config/monitors/0/id` as people write it: `config.monitors[0].id`. */
const readablePath = (pointer: string, property?: string): string => {
  const parts = pointer.split('/').slice(1)
  if (property !== undefined) parts.push(property)
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '')
}

const describe = ({ keyword, instancePath, params, message = 'does not fit' }: ErrorObject): Issue => {
  switch (keyword) {
    case 'required':
      return { path: readablePath(instancePath, params.missingProperty), message: 'is required' }
    case 'additionalProperties':
      return { path: readablePath(instancePath, params.additionalProperty), message: 'is not a known property' }
    case 'enum':
      return { path: readablePath(instancePath), message: `must be one of ${params.allowedValues.join(', ')}` }
    case 'type':
      return { path: readablePath(instancePath), message: `must be ${[params.type].flat().join(' or ')}` }
    case 'pattern':
      // The form of a text is told by its description in the reference, never as an expression.
      return {
        path: readablePath(instancePath),
        message: params.pattern === '\\S' ? 'must not be blank' : 'does not have the form that the reference describes',
      }
    case 'format':
      return {
        path: readablePath(instancePath),
        message: formatMessages[params.format] ?? `must be a ${params.format}`,
      }
    default:
      return { path: readablePath(instancePath), message }
  }
}

const formatMessages: Record<string, string> = {
  uuid: 'must be a UUID',
  'date-time': 'must be an ISO 8601 date and time with an offset or Z',
  email: 'must be an e-mail address',
}

export const toIssues = (errors: ErrorObject[]): Issue[] => {
  const issues = errors
    .filter(({ keyword }) => keyword !== 'if')
    .slice(0, maxIssues)
    .map(describe)
  if (errors.length > maxIssues) issues.push({ path: '', message: `and ${errors.length - maxIssues} more` })
  return issues
}

/** Numbers in a query string are decimal: what JavaScript would also read as one (`0x10`, ` 1`) is none. */
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
      // A list is not coerced to a number, so its type is the fault that is told.
      if (typeof text === 'string' && !decimal.test(text)) query[name] = [text]
    }
    const fits = validate(query, context)
    check.errors = validate.errors
    return fits
  }
  check.errors = validate.errors
  return Object.assign(check, { schemaEnv: validate.schemaEnv }) as unknown as ValidateFunction
}

export const addValidation = (app: FastifyInstance): void => {
  app.setValidatorCompiler(({ schema, httpPart }) => {
    // Routes are declared with schemas of our own making.
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

/**
 * Fastify stops at the first part of a request that does not fit; the caller is told of the faults of all parts.
 */
export const validationError = (request: FastifyRequest, error: FastifyError): ApiError => {
  const errors = (error.validation ?? []) as ErrorObject[]
  const order = Object.keys(parts) as (keyof typeof parts)[]
  for (const part of order.slice(order.indexOf(error.validationContext as keyof typeof parts) + 1)) {
    const validate = request.getValidationFunction(part) as ValidateFunction | undefined
    if (validate && !validate(request[parts[part]] ?? null)) errors.push(...(validate.errors ?? []))
  }
  const issues = toIssues(errors)
  const [first] = issues
  const message = `${first?.path || 'The body'} ${first?.message ?? 'does not fit'}`
  return new ApiError('invalid', issues.length > 1 ? `${message}, and ${issues.length - 1} more` : message, { issues })
}
