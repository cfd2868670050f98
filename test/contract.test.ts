import { randomUUID } from 'node:crypto'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { JsonSchema } from '../server/platform/http/examples.ts'
import { openApiDocument } from '../server/platform/http/openapi.ts'
import { makeKey, makeOrganization } from './make.ts'
import { listOperations, makeIds, type Org, pathWith, preparedCall, type SweptOperation } from './operations.ts'
import { openConnection } from './raw-http.ts'
import { serviceKey, type TestCall, testServer } from './server.ts'

/**
 * Checks every operation in openapi.json against the rules that apply to all operations. The tests in security/ check
 * who can call them.
 */

// The mail server is never used, because nothing runs the jobs that send emails.
const server = await testServer({
  EARSHOT_TRUST_PROXY: '1',
  EARSHOT_SMTP_URL: 'smtp://127.0.0.1:1',
  EARSHOT_EMBEDDINGS: 'on',
})
const { call } = server
const operations = listOperations(server)
const document = openApiDocument(server.app)

const ajv = new Ajv({ allErrors: true, strict: false })
addFormats.default(ajv)
ajv.addSchema({ $id: 'document', ...document })

const validators = new Map<object, ValidateFunction>()
const faultsOf = (schema: object, value: unknown): unknown => {
  let validate = validators.get(schema)
  if (!validate) {
    validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')))
    validators.set(schema, validate)
  }
  return validate(value) ? null : validate.errors
}

const errorSchema = { $ref: '#/components/schemas/Error' }

const expectError = (answer: { status: number; body: unknown }, status: number, error: string) => {
  expect(answer).toMatchObject({ status, body: { error, message: expect.any(String) } })
  expect(faultsOf(errorSchema, answer.body)).toBeNull()
}

/** Returns the status of the response to a request that announces a body and never sends it. */
const announce = async (method: string, path: string, bytes: number, headers: Record<string, string>) => {
  const connection = openConnection(Number(new URL(server.origin).port))
  const lines = Object.entries({ host: '127.0.0.1', 'content-length': `${bytes}`, ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const [answer] = await connection.exchange(`${method} ${path} HTTP/1.1\r\n${head}\r\n`)
  connection.close()
  return answer?.status
}

const isAudited = ({ method, unaudited, audited }: SweptOperation) =>
  audited || (method !== 'GET' && method !== 'HEAD' && !unaudited)

/** Creates a key with the lowest role that is allowed. security/access.test.ts tests the higher ones. */
const keyFor = async ({ access }: SweptOperation, org: Org) => {
  if (access === 'service') return serviceKey
  return access === 'public' ? org.key : (await makeKey(server, org.key, access.role)).key
}

const { rows: tenantTables } = await sql<{ name: string }>`
  SELECT table_name AS name FROM information_schema.columns
  WHERE table_schema = 'public' AND column_name = 'organization_id' AND table_name <> 'api_key_uses' ORDER BY 1`.execute(
  server.deps.db,
)

/** Returns everything that is stored for an organization, except when a key was last used. */
const stateOf = async (org: string): Promise<string> => {
  const ofEach = tenantTables.map(
    ({ name }) => sql`SELECT ${name}::text AS name, to_jsonb(t) AS row
      FROM ${sql.table(name)} t WHERE organization_id = ${org}`,
  )
  const { rows } = await sql`SELECT * FROM (${sql.join(ofEach, sql` UNION ALL `)}) every ORDER BY 1, 2`.execute(
    server.deps.db,
  )
  return JSON.stringify(rows)
}

const countAudit = async (): Promise<number> => {
  const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM audit_events`.execute(server.deps.db)
  return rows[0]?.count ?? Number.NaN
}

const isOneProcess = inject('processes') === undefined

/** Defines a test that `npm run scale` leaves out, because each process checks requests in the same way. */
const itInOneProcess = (name: string, run: () => Promise<void>) => {
  if (isOneProcess) it(name, run)
}

// The document is the same for every caller, so it is checked once.
if (isOneProcess) {
  describe('the document', () => {
    it('has an operation ID, a summary, a tag, examples, and a default error for each operation', () => {
      const ids = operations.map(({ operation }) => operation.operationId)
      expect(new Set(ids).size).toBe(operations.length)
      const tagNames = document.tags.map(({ name }) => name)
      for (const { name, operation } of operations) {
        expect(operation.summary, name).toMatch(/^[A-Z].{5,}[^.]$/)
        expect(tagNames, name).toContain(operation.tags[0])
        expect(operation.responses.default?.content?.['application/json']?.schema, name).toEqual(errorSchema)
        for (const { content } of [operation.requestBody, ...Object.values(operation.responses)].map(
          (part) => part ?? { content: {} },
        )) {
          const json = content?.['application/json']
          if (json?.schema) expect(faultsOf(json.schema, json.example), `the example of ${name}`).toBeNull()
        }
      }
    })
  })
}

const resolved = (schema: JsonSchema): JsonSchema =>
  schema.$ref ? (document.components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {}) : schema

/** Properties that a caller might try to set. */
const hopes = ['surprise', 'id', 'organizationId', 'role', 'createdAt', 'createdByUserId', 'constructor', '__proto__']

/**
 * Adds unknown properties to every object with listed properties. Returns the changed value and the paths of the
 * additions.
 */
const withHopes = (given: JsonSchema, value: unknown, at = ''): { value: unknown; paths: string[] } => {
  const schema = resolved(given)
  if (schema.anyOf) {
    const choice = schema.anyOf.find((each) => faultsOf(each, value) === null)
    return choice ? withHopes(choice, value, at) : { value, paths: [] }
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => withHopes(schema.items ?? {}, item, `${at}[${index}]`))
    return { value: items.map((item) => item.value), paths: items.flatMap(({ paths }) => paths) }
  }
  if (typeof value !== 'object' || value === null || !schema.properties) return { value, paths: [] }
  const inside = (name: string) => (at === '' ? name : `${at}.${name}`)
  const properties = Object.entries(value).map(([name, part]) => {
    return { name, ...withHopes(schema.properties?.[name] ?? {}, part, inside(name)) }
  })
  const unknown = hopes.filter((name) => !Object.hasOwn(schema.properties ?? {}, name))
  const added = schema.additionalProperties === false ? unknown : []
  return {
    // Assigning to `__proto__` would add no property, but `Object.fromEntries` does.
    value: Object.fromEntries([
      ...properties.map((each) => [each.name, each.value]),
      ...added.map((name) => [name, 'owner']),
    ]),
    paths: [...properties.flatMap(({ paths }) => paths), ...added.map(inside)],
  }
}

const isFile = ({ path }: SweptOperation) => path.startsWith('/files/')
const tested = isOneProcess ? operations : operations.filter((swept) => !isFile(swept))

describe.each(tested)('$name', (swept) => {
  const { method, path, operation, foreign } = swept

  itInOneProcess('returns 405 with Allow for an unsupported method', async () => {
    const present = Object.keys(document.paths[path] ?? {}).map((name) => name.toUpperCase())
    const other = ['DELETE', 'PATCH', 'PUT', 'POST'].find((candidate) => !present.includes(candidate))
    if (!other) throw new Error('each method is taken')
    const answer = await call(other, path.replaceAll(/\{\w+\}/g, randomUUID()))
    expectError(answer, 405, 'method not allowed')
    for (const name of present) expect(answer.headers.get('allow')).toContain(name)
  })

  if (isFile(swept)) return

  let org: Org
  let key: string
  let ids: string[]
  let filled: string
  let accepted: Partial<TestCall>

  beforeAll(async () => {
    org = await makeOrganization(server)
    key = await keyFor(swept, org)
    ids = await makeIds(server, swept, org)
    filled = pathWith(swept, ids)
    accepted = await preparedCall(server, swept, org)
  })

  itInOneProcess('reports what is wrong in a request, and changes nothing', async () => {
    const send = (target: string, parts: Partial<TestCall> = {}) => call(method, target, { key, ...accepted, ...parts })
    const state = await stateOf(org.id)
    // Only IDs are checked. A metadata key in the path can be any string.
    if (swept.path.includes('{id}')) {
      const answer = await send(pathWith(swept, ids.with(0, 'not-a-uuid')))
      expectError(answer, 400, 'validation failed')
      expect(answer.body.details.issues).toContainEqual({ path: 'id', message: 'must be a UUID' })
    }
    // Foreign senders add properties and use their own content types.
    if (!foreign) {
      const answer = await send(`${filled}${filled.includes('?') ? '&' : '?'}surprise=1`)
      expectError(answer, 400, 'validation failed')
      expect(answer.body.details.issues).toContainEqual({ path: 'surprise', message: expect.any(String) })
    }
    const sendRaw = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) => {
      const { body: _body, ...rest } = accepted
      return call(method, filled, { key, ...rest, raw, headers: { ...accepted.headers, ...headers } })
    }
    if (operation.requestBody && !foreign) {
      expectError(await sendRaw('{}', { 'content-type': 'text/plain' }), 415, 'unsupported media type')
    }
    const json = operation.requestBody?.content['application/json']
    if (json && !foreign) {
      const type = { 'content-type': 'application/json' }
      const { value, paths } = withHopes(json.schema, accepted.body ?? {})
      const answer = await sendRaw(JSON.stringify(value), type)
      expectError(answer, 400, 'validation failed')
      const expected = paths.map((each) => ({ path: each, message: 'is not a known property' }))
      expect(answer.body.details.issues).toEqual(expect.arrayContaining(expected.slice(0, 100)))
      expect(paths).toContain('surprise')

      expectError(await sendRaw('{', type), 400, 'validation failed')
      expectError(await sendRaw('{}', { ...type, 'content-encoding': 'br' }), 415, 'unsupported media type')
      const heads = { authorization: `Bearer ${key}`, ...accepted.headers, ...type }
      expect(await announce(method, filled, 33 * 1024 * 1024, heads)).toBe(413)
      expectError(await sendRaw(Buffer.from('{"name":"\xff"}', 'latin1'), type), 400, 'validation failed')
    }
    expect(await stateOf(org.id)).toBe(state)
  })

  it('responds according to its schema, and leaves one audit event if it writes', async () => {
    const before = await countAudit()
    const answer = await call(method, filled, { key, ...accepted })
    const declared = operation.responses[answer.status]
    expect(declared, `${answer.status} ${answer.text}`).toBeDefined()
    expect(answer.status).toBeLessThan(400)
    const schema = declared?.content?.['application/json']?.schema
    if (!declared?.content) expect([answer.text, answer.headers.get('content-type')]).toEqual(['', null])
    else if (schema) expect(faultsOf(schema, answer.body)).toBeNull()
    expect(answer.headers.has('location')).toBe(declared?.headers?.Location !== undefined)
    if (answer.status === 201) {
      const location = answer.headers.get('location') ?? ''
      expect(location).toMatch(/^\/v1\//)
      const reader = location === '/v1/api-keys' ? org.key : key
      expect((await call('GET', location, { key: reader })).status, `GET ${location}`).toBe(200)
    }
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect((await countAudit()) - before).toBe(isAudited(swept) ? 1 : 0)
  })
})
