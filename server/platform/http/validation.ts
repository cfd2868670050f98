import type { ErrorObject, ValidateFunction } from 'ajv'
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, type Issue } from '../errors.ts'
import { coercing, strict } from '../json-schema.ts'

/** A body can hold more faults than anyone reads; the first ones suffice. */
const maxIssues = 100

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

const toIssues = (errors: ErrorObject[]): Issue[] => {
  const issues = errors
    .filter(({ keyword }) => keyword !== 'if')
    .slice(0, maxIssues)
    .map(describe)
  if (errors.length > maxIssues) issues.push({ path: '', message: `and ${errors.length - maxIssues} more` })
  return issues
}

export const addValidation = (app: FastifyInstance): void => {
  app.setValidatorCompiler(({ schema, httpPart }) =>
    (httpPart === 'body' ? strict : coercing).compile(schema as object),
  )
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
