// Reads the tools' operations from the OpenAPI document.
import type { Access } from '../platform/http/access.ts'
import type { JsonSchema } from '../platform/http/examples.ts'
import type { App } from '../platform/http/http.ts'
import { type OpenApiDocument, type Operation, openApiDocument } from '../platform/http/openapi.ts'
import { toIssues } from '../platform/http/validation.ts'
import { compileStrict } from '../platform/json-schema.ts'
import { type Tool, tools } from './tools.ts'

type ParameterLocation = 'path' | 'query' | 'body'

export type Callable = {
  tool: Tool
  method: string
  path: string
  access: Exclude<Access, string>
  /** The arguments from all parts of the request, in one object. */
  inputSchema: {
    type: 'object'
    properties: Record<string, JsonSchema>
    required: string[]
    additionalProperties: false
  }
  outputSchema: JsonSchema
  placeOf: Map<string, ParameterLocation>
  /**
   * Validates arguments that the operation can't validate: those that only shape the response, and path arguments,
   * which could lead to a different operation if they contained dots.
   */
  faultOf: (args: Record<string, unknown>) => string | undefined
  /** Set for the operation that returns a link. */
  linkPath: string | undefined
}

/** The default page size for models. */
const pageItems = 20

/** Inlines components, because not every client follows references. */
const withoutReferences = (node: unknown, schemas: Record<string, JsonSchema>): unknown => {
  if (Array.isArray(node)) return node.map((part) => withoutReferences(part, schemas))
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).filter(([name]) => name !== 'examples')
  const inner = Object.fromEntries(entries.map(([name, part]) => [name, withoutReferences(part, schemas)]))
  const { $ref, ...rest } = inner
  if (typeof $ref !== 'string') return inner
  const schema = schemas[$ref.replace('#/components/schemas/', '')]
  return { ...(withoutReferences(schema, schemas) as object), ...rest }
}

const listed = ({ paths }: OpenApiDocument) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )

const argumentsOf = ({ parameters = [], requestBody }: Operation, { components }: OpenApiDocument) => {
  const body = requestBody?.content['application/json']?.schema
  // Our schemas are always objects or references to objects.
  const plain = withoutReferences(body ?? {}, components.schemas) as JsonSchema
  const given = parameters.map(({ name, in: place, required = false, schema, description }) => ({
    name,
    place: place as ParameterLocation,
    required,
    schema: withoutReferences({ ...schema, ...(description && { description }) }, components.schemas) as JsonSchema,
  }))
  const inBody = Object.entries(plain.properties ?? {}).map(([name, schema]) => ({
    name,
    place: 'body' as ParameterLocation,
    schema,
    required: plain.required?.includes(name) ?? false,
  }))
  return [...given, ...inBody].map((argument) =>
    argument.name === 'limit' ? { ...argument, schema: { ...argument.schema, default: pageItems } } : argument,
  )
}

/** Limits the depth of output schemas. */
const outputDepth = 4

/**
 * Returns the output schema without limits, because responses are changed: strings are shortened, large values become
 * text, and names and links are added.
 */
const loosened = (schema: JsonSchema, depth = outputDepth): JsonSchema => {
  const { description, type, properties, items } = schema
  const told = description === undefined ? {} : { description }
  if (depth === 0) return told
  if (properties) {
    const inside = Object.entries(properties).map(([name, part]) => [name, loosened(part, depth - 1)])
    return { ...told, type: ['object', 'string', 'null'], properties: Object.fromEntries(inside) }
  }
  if (items) return { ...told, type: ['array', 'string', 'null'], items: loosened(items, depth - 1) }
  const types = [type ?? []].flat()
  const isPlain = types.length > 0 && types.every((each) => each !== 'object' && each !== 'array')
  return isPlain ? { ...told, type: [...new Set([...types, 'null'])] } : told
}

const outputOf = ({ responses }: Operation, { components }: OpenApiDocument): JsonSchema => {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const schema = success?.content?.['application/json']?.schema ?? {}
  return { ...loosened(withoutReferences(schema, components.schemas) as JsonSchema), type: 'object' }
}

const checkOf = (properties: Record<string, JsonSchema>): Callable['faultOf'] => {
  const validate = compileStrict({ type: 'object', properties })
  return (args) => {
    const given = Object.entries(args).filter(([name]) => Object.hasOwn(properties, name))
    if (validate(Object.fromEntries(given))) return undefined
    const [fault] = toIssues(validate.errors ?? [])
    return `${fault?.path} ${fault?.message}`
  }
}

const callableOf = (document: OpenApiDocument, tool: Tool): Callable => {
  const operations = listed(document)
  const find = (operationId: string) => {
    const found = operations.find(({ operation }) => operation.operationId === operationId)
    if (!found) throw new Error(`The tool ${tool.name} names no operation: ${operationId}`)
    return found
  }
  const { path, method, operation } = find(tool.operationId)
  const access = operation['x-access']
  if (typeof access === 'string') throw new Error(`The tool ${tool.name} is not for keys of an organization.`)
  const own = argumentsOf(operation, document)
  const written = Object.fromEntries(Object.entries(tool.written ?? {}).map(([name, { schema }]) => [name, schema]))
  const ofOperation = Object.fromEntries(own.map(({ name, schema }) => [name, schema]))
  const properties = { ...ofOperation, ...written, ...tool.reading }
  if (Object.keys(properties).length < own.length) throw new Error(`Two arguments of ${tool.name} have the same name.`)
  const inPath = own.filter(({ place }) => place === 'path')
  const required = own.filter((argument) => argument.required).map(({ name }) => name)
  return {
    tool,
    path,
    method,
    access,
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    outputSchema: outputOf(operation, document),
    faultOf: checkOf({
      ...Object.fromEntries(inPath.map(({ name, schema }) => [name, schema])),
      ...written,
      ...tool.reading,
    }),
    placeOf: new Map(own.map(({ name, place }) => [name, place])),
    linkPath: tool.link === undefined ? undefined : find(tool.link).path,
  }
}

/** Reads the operations. Runs after all routes are registered. */
export const readCallables = (app: App): Map<string, Callable> => {
  const document = openApiDocument(app)
  return new Map(tools.map((tool) => [tool.name, callableOf(document, tool)]))
}

export const defaultsOf = ({ placeOf }: Callable): Record<string, unknown> =>
  placeOf.has('limit') ? { limit: pageItems } : {}
