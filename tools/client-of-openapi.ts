// Generates the client library's methods from an OpenAPI document. docs/decisions/0020-client.md explains their names.

import type { OpenApi, Operation } from './types-of-openapi.ts'

/** Segments of paths that have shorter names in the client. */
const shorter: Record<string, string> = { 'monitor-exports': 'exports' }

/** Nouns in operation IDs that differ from those in the path, longest first. */
const nouns: Record<string, string[]> = {
  organization: ['OwnOrganization'],
  'webhook-endpoints': ['WebhookEndpoints', 'WebhookEndpoint', 'Webhook'],
}

/** Names for operations that would otherwise have the same name as another one, except for its plural. */
const renamed: Record<string, string> = { createConversations: 'createBatch' }

/** POST requests that can be repeated safely, in addition to those that return both 200 and 201. */
const upserts = new Set(['createMonitorResults', 'createCustomerMetrics'])

/** POST requests that can be repeated safely if their items have an external ID. */
const upsertsByExternalId = new Set(['createConversation', 'createConversations'])

type RoutedOperation = Operation & { path: string; method: string }

const pascalOf = (words: string): string =>
  words.replaceAll(/(?:^|-)([a-z])/g, (_match, letter: string) => letter.toUpperCase())

const camelOf = (words: string): string => {
  const pascal = pascalOf(words)
  return pascal.slice(0, 1).toLowerCase() + pascal.slice(1)
}

const singularOf = (word: string): string => word.replace(/ies$/, 'y').replace(/s$/, '')

const folderOf = (path: string): string => path.split('/')[2] ?? ''

/**
 * Returns the name of a method. `listFindingComments` of `/v1/findings/…` becomes `findings.listComments`, without the
 * folder's noun.
 */
const nameOf = ({ operationId, path }: RoutedOperation): string => {
  const folder = folderOf(path)
  const [verb = ''] = /^[a-z]+/.exec(operationId) ?? []
  const rest = operationId.slice(verb.length)
  const singular = pascalOf(singularOf(folder))
  const candidates = nouns[folder] ?? [pascalOf(folder), singular]
  const noun = candidates.find((each) => rest.startsWith(each)) ?? ''
  return renamed[operationId] ?? verb + rest.slice(noun.length)
}

const answerOf = ({ responses }: Operation) =>
  Object.entries(responses).find(([status]) => status.startsWith('2') && status !== '204')?.[1].content?.[
    'application/json'
  ]?.schema

const isPaged = (operation: Operation): boolean => {
  const { properties = {} } = answerOf(operation) ?? {}
  return 'data' in properties && 'nextCursor' in properties
}

/** Returns whether to repeat a POST after a lost response: always, or only with an external ID. */
const repeatOf = (operation: RoutedOperation): string | undefined => {
  const { method, operationId, responses, requestBody, 'x-access': access } = operation
  if (method !== 'post') return undefined
  if (upsertsByExternalId.has(operationId)) return "'externalId'"
  const isReading = typeof access === 'object' && access.role === 'viewer'
  const takesOperationId = requestBody?.content?.['application/json']?.schema?.required?.includes('operationId')
  if (takesOperationId || ('200' in responses && '201' in responses) || upserts.has(operationId)) return "'always'"
  return isReading ? "'always'" : undefined
}

const namesInPath = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** Returns how the library returns a response: as a list, as a Response, or as JSON. */
const callOf = (operation: RoutedOperation) =>
  isPaged(operation) ? 'list' : '302' in operation.responses ? 'open' : 'json'

const methodOf = (operation: RoutedOperation): string => {
  const { method, path, parameters = [], requestBody, summary } = operation
  const at = `'${path}', '${method}'`
  const names = namesInPath(path)
  const queries = parameters.filter((parameter) => parameter.in === 'query')
  const kinds = Object.entries(requestBody?.content ?? {})
  const json = kinds.find(([kind]) => kind === 'application/json')?.[1].schema
  const isOptional = !requestBody?.required
  const takesNothing = isOptional && Object.keys(json?.properties ?? {}).length === 0
  const sent: string[] = []
  const given = names.map((name) => `${name}: string`)
  if (json && !takesNothing) {
    given.push(`body${isOptional ? '?' : ''}: Body<${at}>`)
    sent.push('body')
  } else if (requestBody && !json) {
    given.push('body: Blob')
    sent.push('body')
  }
  if (queries.length > 0) {
    given.push(`query${queries.some(({ required }) => required) ? '' : '?'}: Query<${at}>`)
    sent.push('query')
  }
  const repeat = repeatOf(operation)
  if (repeat) sent.push(`repeat: ${repeat}`)
  given.push('options?: RequestOptions')
  const address = names.length > 0 ? `path\`${path.replaceAll(/\{(\w+)\}/g, '$' + '{$1}')}\`` : `'${path}'`
  const call = callOf(operation)
  const answers = { list: `Paged<Item<${at}>>`, open: 'Promise<Response>', json: `Promise<Answer<${at}>>` }[call]
  return [
    `  /** ${summary.replaceAll('*/', '* /')}. */`,
    `  ${nameOf(operation)}: (${given.join(', ')}): ${answers} =>`,
    `    send.${call}('${method.toUpperCase()}', ${address}, { ${sent.join(', ')} }, options),`,
  ].join('\n')
}

/** Returns whether an operation accepts API keys. All others are for browsers, providers, and probes. */
const isForClients = ({ path, security }: RoutedOperation): boolean =>
  path.startsWith('/v1/') && (security?.length ?? 0) > 0

const propertyOf = (path: string): string => shorter[folderOf(path)] ?? camelOf(folderOf(path))

const samplePreamble = `import { Earshot } from '@earshot/client'

const earshot = new Earshot({ url: process.env.EARSHOT_URL ?? '', key: process.env.EARSHOT_KEY ?? '' })`

/** Returns `CONVERSATION_ID` for `id` in `/v1/conversations/{id}`. */
const placeholderOf = (path: string, name: string): string => {
  const words = name === 'id' ? `${singularOf(folderOf(path))}-id` : name.replaceAll(/[A-Z]/g, '-$&')
  return `'${words.replaceAll('-', '_').toUpperCase()}'`
}

/** Returns a code sample that calls the operation with the client library. */
const sampleOf = (operation: RoutedOperation): string => {
  const { path, parameters = [], requestBody } = operation
  const given = namesInPath(path).map((name) => placeholderOf(path, name))
  const json = requestBody?.content?.['application/json']
  if (requestBody?.required) {
    const body = JSON.stringify(json?.example, null, 2)?.replaceAll(/^( *)"(\w+)":/gm, '$1$2:')
    given.push(json ? body : "await openAsBlob('FILE')")
  }
  const queries = parameters.filter((parameter) => parameter.in === 'query' && parameter.required)
  if (queries.length > 0)
    given.push(`{ ${queries.map(({ name }) => `${name}: ${placeholderOf(path, name)}`).join(', ')} }`)
  const preamble = requestBody && !json ? `import { openAsBlob } from 'node:fs'\n${samplePreamble}` : samplePreamble
  const call = `earshot.${propertyOf(path)}.${nameOf(operation)}(${given.join(', ')})`
  if (callOf(operation) === 'list') {
    return `${preamble}\n\nfor await (const item of ${call}) {\n  console.log(item)\n}`
  }
  const result = callOf(operation) === 'open' ? 'response' : answerOf(operation) ? 'result' : undefined
  return `${preamble}\n\n${result ? `const ${result} = ` : ''}await ${call}`
}

/** Returns the document with a TypeScript sample for each operation of the client. */
export const samplesOfOpenApi = (document: OpenApi): OpenApi => {
  const withSample = (path: string, method: string, operation: Operation): Operation => {
    const routed = { ...operation, path, method }
    // Operations for the clients of other tools have no sample.
    if (!isForClients(routed) || operation['x-foreign']) return operation
    const sample = { lang: 'TypeScript', label: 'TypeScript', source: sampleOf(routed) }
    return { ...operation, 'x-codeSamples': [sample] }
  }
  const withSamples = (path: string, methods: Record<string, Operation>) =>
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [method, withSample(path, method, operation)]),
    )
  const paths = Object.entries(document.paths).map(([path, methods]) => [path, withSamples(path, methods)])
  return { ...document, paths: Object.fromEntries(paths) }
}

export const clientOfOpenApi = ({ paths }: OpenApi): string => {
  const routed = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
    )
    .filter(isForClients)
  const folders = Object.entries(Object.groupBy(routed, ({ path }) => propertyOf(path)))
  folders.sort(([a], [b]) => (a < b ? -1 : 1))
  const parts = folders.map(([name, operations = []]) => {
    const names = operations.map(nameOf)
    const twice = names.find((each, at) => names.indexOf(each) !== at)
    if (twice)
      throw new Error(`Two operations would be ${name}.${twice} of the client: name one in ${import.meta.filename}`)
    return `const ${name} = (send: Send) => ({\n${operations.map(methodOf).join('\n')}\n})`
  })
  return `// Written by \`npm run generate\` from openapi.json.

import type { Answer, Body, Item, Query } from './operation.ts'
import type { Paged } from './paged.ts'
import { path, type RequestOptions, type Send } from './send.ts'

${parts.join('\n\n')}

/** Every operation that API keys can call, grouped by resource. */
export class Resources {
${folders.map(([name]) => `  readonly ${name}: ReturnType<typeof ${name}>`).join('\n')}

  constructor(send: Send) {
${folders.map(([name]) => `    this.${name} = ${name}(send)`).join('\n')}
  }
}
`
}
