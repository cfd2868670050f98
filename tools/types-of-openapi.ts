// Generates TypeScript types from an OpenAPI document for openapi-fetch. The usual generators need the TypeScript
// compiler's JavaScript API, which TypeScript 7 doesn't have.

type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  description?: string
}

type Body = { required?: boolean; content?: Record<string, { schema?: Schema; example?: unknown }> }

export type Operation = {
  operationId: string
  summary: string
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: Body
  responses: Record<string, Body>
  security?: object[]
  'x-access'?: string | { role: string }
  'x-foreign'?: true
  'x-codeSamples'?: { lang: string; label: string; source: string }[]
}

export type OpenApi = {
  components: { schemas: Record<string, Schema> }
  paths: Record<string, Record<string, Operation>>
}

const unionOf = (types: string[]) => [...new Set(types)].join(' | ')

const inParentheses = (type: string) => (/ [|&] /.test(type) ? `(${type})` : type)

const objectOf = ({ properties = {}, required = [], additionalProperties }: Schema): string => {
  const members = Object.entries(properties).map(
    ([name, schema]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  const rest = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'
  if (members.length === 0) return additionalProperties === false ? 'Record<string, never>' : `Record<string, ${rest}>`
  return `{ ${members.join('; ')} }`
}

const simple: Record<string, string> = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean' }

const typeOf = (schema: Schema): string => {
  if (schema.$ref) return `Schemas['${schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)}']`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return unionOf(schema.enum.map((value) => JSON.stringify(value)))
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return unionOf(choices.map(typeOf))
  if (schema.allOf) return schema.allOf.map((part) => inParentheses(typeOf(part))).join(' & ')
  const types = [schema.type ?? []].flat()
  if (types.length === 0) return schema.properties ? objectOf(schema) : 'unknown'
  return unionOf(
    types.map((type) => {
      if (type === 'array') return `${inParentheses(typeOf(schema.items ?? {}))}[]`
      return type === 'object' ? objectOf(schema) : (simple[type] ?? 'null')
    }),
  )
}

const contentOf = ({ content }: Body) => {
  const kinds = Object.entries(content ?? {}).map(([kind, { schema = {} }]) => `'${kind}': ${typeOf(schema)}`)
  return kinds.length > 0 ? `content: { ${kinds.join('; ')} }` : 'content?: never'
}

const parametersOf = ({ parameters = [] }: Operation) =>
  ['query', 'path'].map((place) => {
    const members = parameters.filter((parameter) => parameter.in === place)
    if (members.length === 0) return `${place}?: never`
    const fields = members.map(
      ({ name, required, schema }) => `${JSON.stringify(name)}${required ? '' : '?'}: ${typeOf(schema)}`,
    )
    return `${place}${members.some(({ required }) => required) ? '' : '?'}: { ${fields.join('; ')} }`
  })

const operationOf = (operation: Operation): string => {
  const { requestBody } = operation
  const body = requestBody
    ? `requestBody${requestBody.required ? '' : '?'}: { ${contentOf(requestBody)} }`
    : 'requestBody?: never'
  const responses = Object.entries(operation.responses)
    .filter(([status]) => status === 'default' || status.startsWith('2'))
    .map(([status, response]) => `${status}: { headers: Record<string, unknown>; ${contentOf(response)} }`)
  return [
    `/** ${operation.summary.replaceAll('*/', '* /')}. */`,
    `{ parameters: { ${parametersOf(operation).join('; ')} }; ${body}; responses: { ${responses.join('; ')} } }`,
  ].join(' ')
}

const describe = ({ description }: Schema) => (description ? `/** ${description.replaceAll('*/', '* /')} */\n  ` : '')

export const typesOfOpenApi = ({ components, paths }: OpenApi): string => {
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `  ${describe(schema)}${name}: ${typeOf(schema)}`,
  )
  const addresses = Object.entries(paths).map(([path, operations]) => {
    const methods = Object.entries(operations).map(([method, operation]) => `    ${method}: ${operationOf(operation)}`)
    return `  '${path}': {\n${methods.join('\n')}\n  }`
  })
  return `// Written by \`npm run generate\` from openapi.json.

export type Schemas = {
${schemas.join('\n')}
}

export type paths = {
${addresses.join('\n')}
}
`
}
