import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { instantKeyword } from '../json-schema.ts'
import type { Access } from './access.ts'
import { type BuiltFile, packFile, sendBuiltFile } from './built-files.ts'
import { exampleOf, type JsonSchema } from './examples.ts'
import { mediaTypeNames } from './read-body.ts'

export type Operation = {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security?: Record<string, string[]>[]
  parameters?: { name: string; in: string; required?: boolean; schema: JsonSchema; description?: string }[]
  requestBody?: { content: Record<string, { schema: JsonSchema; example?: unknown }>; required?: boolean }
  responses: Record<
    string,
    {
      description: string
      headers?: Record<string, { schema: JsonSchema; description?: string }>
      content?: Record<string, { schema: JsonSchema; example?: unknown }>
    }
  >
  'x-access': Access
  'x-foreign'?: true
  'x-unaudited'?: string
  'x-audited'?: true
}

export type OpenApiDocument = {
  openapi: string
  info: { title: string; version: string; description: string; license?: { name: string; identifier: string } }
  servers?: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, unknown> }
}

const info = {
  title: 'Earshot',
  version: 'v1',
  license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
  description:
    'Send an API key as `Authorization: Bearer <API_KEY>`. A key gives access to one organization’s data. Errors ' +
    'return the Error body, and every response has an `x-request-id`. Lists are paged: send `nextCursor` as ' +
    '`cursor` to get the next page. Timestamps are ISO 8601. In responses, they are in UTC with milliseconds.',
}

export const addOpenApi = async (app: FastifyInstance, areas: [name: string, description: string][]): Promise<void> => {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info,
      servers: [{ url: '/' }],
      tags: areas.map(([name, description]) => ({ name, description })),
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    },
    transform: ({ schema, url, route }) => {
      const access = route.config?.access ?? 'public'
      const consumes = route.config?.takes ? { consumes: mediaTypeNames(route.config.takes) } : {}
      return {
        url,
        schema: {
          ...schema,
          ...consumes,
          'x-access': access,
          ...(route.config?.foreign && { 'x-foreign': true }),
          ...(route.config?.unaudited && { 'x-unaudited': route.config.unaudited }),
          ...(route.config?.audited && { 'x-audited': true }),
          security: access === 'public' ? [] : [{ key: [] }],
        },
      }
    },
  })

  // The document is created on demand, because it needs all routes.
  let json: Promise<BuiltFile> | undefined
  app.get('/openapi.json', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    json ??= packFile('application/json; charset=utf-8', JSON.stringify(openApiDocument(app)))
    return sendBuiltFile(request, reply, await json, 'no-cache')
  })
}

/** Makes properties with a default optional. */
const withoutDefaults = (schema: JsonSchema): void => {
  const required = schema.required?.filter((name) => schema.properties?.[name]?.default === undefined)
  if (required?.length) schema.required = required
  else delete schema.required
  for (const property of Object.values(schema.properties ?? {})) withoutDefaults(property)
  if (schema.items) withoutDefaults(schema.items)
}

/** Makes a body optional. Validation reads a missing body as null, which the API doesn't document. */
const allowNoBody = (body: Required<Operation>['requestBody']): void => {
  const { schema } = body.content['application/json'] ?? {}
  if (!Array.isArray(schema?.type) || !schema.type.includes('null')) return
  schema.type = 'object'
  body.required = false
}

const relaxRequest = ({ parameters = [], requestBody }: Operation): void => {
  for (const parameter of parameters) {
    if (parameter.schema.default !== undefined) parameter.required = false
  }
  if (!requestBody) return
  allowNoBody(requestBody)
  for (const { schema } of Object.values(requestBody.content)) withoutDefaults(schema)
}

const addExamples = ({ requestBody, responses }: Operation): void => {
  const contents = [requestBody, ...Object.values(responses)].map((message) => message?.content ?? {})
  for (const [type, content] of contents.flatMap((media) => Object.entries(media))) {
    if (type === 'application/json') content.example ??= exampleOf(content.schema)
  }
}

/** Returns the generated document. Schemas with a title become components, and everything has an example. */
export const openApiDocument = (app: FastifyInstance): OpenApiDocument => {
  // The plugin's type covers all versions of OpenAPI. The options above select this one.
  const document = structuredClone(app.swagger()) as unknown as OpenApiDocument
  const schemas: Record<string, JsonSchema> = {}

  const hoist = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(hoist)
    if (typeof node !== 'object' || node === null) return node
    const entries = Object.entries(node)
      .filter(([name]) => name !== instantKeyword)
      .map(([name, value]) => [name, hoist(value)])
    const { title, ...schema } = Object.fromEntries(entries)
    if (typeof title !== 'string' || !('type' in schema)) return Object.fromEntries(entries)
    const { description, ...definition } = schema
    const known = schemas[title]
    if (known && JSON.stringify(known) !== JSON.stringify(definition)) {
      throw new Error(`Two different schemas are titled ${title}`)
    }
    schemas[title] = definition
    return { $ref: `#/components/schemas/${title}` }
  }

  for (const operations of Object.values(document.paths)) {
    // HTTP derives HEAD from GET, so it is not documented.
    delete operations.head
    for (const operation of Object.values(operations)) {
      relaxRequest(operation)
      addExamples(operation)
    }
  }
  document.paths = hoist(document.paths) as OpenApiDocument['paths']
  document.components.schemas = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => a.localeCompare(b)))
  return document
}
