import { randomUUID } from 'node:crypto'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../server/platform/http/openapi.ts'
import { roles } from '../server/platform/identity/actor.ts'
import { makeKey, makeOrganization } from './make.ts'
import { fillPath, hasId, listOperations, type Org, preparedCall, type SweptOperation } from './operations.ts'
import { openConnection } from './raw-http.ts'
import { serviceKey, testServer } from './server.ts'

/** What holds for every operation, asked of every operation that openapi.json names. */

// A mail server that is set and never asked: what is to be sent waits for the jobs.
const server = await testServer({ EARSHOT_TRUST_PROXY: '1', EARSHOT_SMTP_URL: 'smtp://127.0.0.1:1' })
const { call } = server
const operations = listOperations(server)
const document = openApiDocument(server.app)

const ajv = new Ajv({ allErrors: true, strict: false })
addFormats.default(ajv)
ajv.addSchema({ $id: 'document', ...document })

const faultsOf = (schema: object, value: unknown): unknown => {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/'))
  const validate = ajv.compile(absolute)
  return validate(value) ? null : validate.errors
}

const errorSchema = { $ref: '#/components/schemas/Error' }

const expectError = (answer: { status: number; body: unknown }, status: number, error: string) => {
  expect(answer).toMatchObject({ status, body: { error, message: expect.any(String) } })
  expect(faultsOf(errorSchema, answer.body)).toBeNull()
}

/** The status for a body that is announced and never sent. */
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
const keyFor = ({ access }: SweptOperation, org: Org) => (access === 'service' ? serviceKey : org.key)

const { rows: tenantTables } = await sql<{ name: string }>`
  SELECT table_name AS name FROM information_schema.columns
  WHERE table_schema = 'public' AND column_name = 'organization_id' ORDER BY 1`.execute(server.deps.db)

/** Everything stored for an organization, but for the minute in which a key was last used. */
const stateOf = async (org: string): Promise<string> => {
  const ofEach = tenantTables.map(
    ({ name }) => sql`SELECT ${name}::text AS name, to_jsonb(t) - 'last_used_at' AS row
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

describe('the document', () => {
  it('has an operation id, a summary, a tag, examples and a default error for each operation', () => {
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

describe.each(operations)('$name', (swept) => {
  const { method, path, access, operation, foreign } = swept

  it('answers 405 with Allow to a method that it does not have', async () => {
    const present = Object.keys(document.paths[path] ?? {}).map((name) => name.toUpperCase())
    const other = ['DELETE', 'PATCH', 'PUT', 'POST'].find((candidate) => !present.includes(candidate))
    if (!other) throw new Error('each method is taken')
    const answer = await call(other, path.replaceAll(/\{\w+\}/g, randomUUID()))
    expectError(answer, 405, 'method not allowed')
    for (const name of present) expect(answer.headers.get('allow')).toContain(name)
  })

  if (path.startsWith('/files/')) return

  it('answers as its schema says, and leaves one audit event if it writes', async () => {
    const org = await makeOrganization(server)
    const filled = await fillPath(server, swept, org)
    const accepted = await preparedCall(server, swept, org)
    const before = await countAudit()
    const answer = await call(method, filled, { key: keyFor(swept, org), ...accepted })
    const declared = operation.responses[answer.status]
    expect(declared, `${answer.status} ${answer.text}`).toBeDefined()
    expect(answer.status).toBeLessThan(400)
    const schema = declared?.content?.['application/json']?.schema
    if (answer.status === 204) expect(answer.text).toBe('')
    else if (schema) expect(faultsOf(schema, answer.body)).toBeNull()
    if (answer.status === 201) expect(answer.headers.get('location')).toMatch(/^\/v1\//)
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect((await countAudit()) - before).toBe(isAudited(swept) ? 1 : 0)
  })

  // Foreign senders add what they like, and say it in a type of their own.
  if (!foreign)
    it('names an unknown query parameter in a 400 and changes nothing', async () => {
      const org = await makeOrganization(server)
      const filled = await fillPath(server, swept, org)
      const accepted = await preparedCall(server, swept, org)
      const state = await stateOf(org.id)
      const answer = await call(method, `${filled}${filled.includes('?') ? '&' : '?'}surprise=1`, {
        key: keyFor(swept, org),
        ...accepted,
      })
      expectError(answer, 400, 'validation failed')
      expect(answer.body.details.issues).toContainEqual({ path: 'surprise', message: expect.any(String) })
      expect(await stateOf(org.id)).toBe(state)
    })

  if (hasId(swept))
    it('answers 400 to a malformed id', async () => {
      const org = await makeOrganization(server)
      const filled = await fillPath(server, swept, org, 'not-a-uuid')
      const answer = await call(method, filled, {
        key: keyFor(swept, org),
        ...(await preparedCall(server, swept, org)),
      })
      expectError(answer, 400, 'validation failed')
      expect(answer.body.details.issues).toContainEqual({ path: 'id', message: 'must be a UUID' })
    })

  if (operation.requestBody?.content['application/json'] && !foreign)
    it('names an unknown body property in a 400 and changes nothing', async () => {
      const org = await makeOrganization(server)
      const filled = await fillPath(server, swept, org)
      const accepted = await preparedCall(server, swept, org)
      const state = await stateOf(org.id)
      const body = { ...(accepted.body as object), surprise: 1 }
      const answer = await call(method, filled, { key: keyFor(swept, org), ...accepted, body })
      expectError(answer, 400, 'validation failed')
      expect(answer.body.details.issues).toContainEqual({ path: 'surprise', message: 'is not a known property' })
      expect(await stateOf(org.id)).toBe(state)
    })

  if (operation.requestBody && !foreign)
    it('refuses broken JSON, another type, an encoding and too much', async () => {
      const org = await makeOrganization(server)
      const filled = await fillPath(server, swept, org)
      const key = keyFor(swept, org)
      const accepted = await preparedCall(server, swept, org)
      const send = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
        call(method, filled, { key, raw, headers: { ...accepted.headers, ...headers } })
      const state = await stateOf(org.id)
      const json = { 'content-type': 'application/json' }
      expectError(await send('{}', { 'content-type': 'text/plain' }), 415, 'unsupported media type')
      if (!operation.requestBody?.content['application/json']) return
      expectError(await send('{', json), 400, 'validation failed')
      expectError(await send('{}', { ...json, 'content-encoding': 'gzip' }), 415, 'unsupported media type')
      const heads = { authorization: `Bearer ${key}`, ...accepted.headers, ...json }
      expect(await announce(method, filled, 33 * 1024 * 1024, heads)).toBe(413)
      expectError(await send(Buffer.from('{"name":"\xff"}', 'latin1'), json), 400, 'validation failed')
      expect(await stateOf(org.id)).toBe(state)
    })

  if (access === 'public') return

  it('answers 401 without a key, with an unknown one and with a foreign scheme', async () => {
    const filled = path.replaceAll(/\{\w+\}/g, randomUUID())
    for (const authorization of [undefined, 'Bearer', 'Bearer nonsense', `Basic ${serviceKey}`]) {
      const answer = await call(method, filled, { ...(authorization && { headers: { authorization } }) })
      expectError(answer, 401, 'unauthorized')
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  if (hasId(swept))
    it('tells another organization’s id from none by nothing, and changes nothing', async () => {
      const owner = await makeOrganization(server)
      const stranger = await makeOrganization(server)
      // An organization is nobody else's under a service key: there only an id that does not exist is left to ask for.
      const foreignPath = access === 'service' ? undefined : await fillPath(server, swept, owner)
      const randomPath = await fillPath(server, swept, owner, randomUUID())
      const state = await stateOf(owner.id)
      const key = keyFor(swept, stranger)
      const headers = { 'x-request-id': 'the-same' }
      const ask = async (filled: string) => {
        const accepted = await preparedCall(server, swept, stranger)
        return call(method, filled, { key, ...accepted, headers: { ...accepted.headers, ...headers } })
      }
      const absent = await ask(randomPath)
      expectError(absent, 404, 'not found')
      if (foreignPath) {
        const foreign = await ask(foreignPath)
        expect(foreign.status).toBe(404)
        expect(foreign.text).toBe(absent.text)
      }
      expect(await stateOf(owner.id)).toBe(state)
    })

  if (access === 'service') {
    it('answers 401 to an organization’s key', async () => {
      const org = await makeOrganization(server)
      const filled = await fillPath(server, swept, org)
      const accepted = await preparedCall(server, swept, org)
      expectError(await call(method, filled, { key: org.key, ...accepted }), 401, 'unauthorized')
    })
    return
  }

  it('answers 403 to a service key', async () => {
    const filled = path.replaceAll(/\{\w+\}/g, randomUUID())
    expectError(await call(method, filled, { key: serviceKey }), 403, 'forbidden')
  })

  it('lets in the declared role and higher ones, and no lower one', async () => {
    for (const role of roles) {
      const org = await makeOrganization(server)
      const { key } = await makeKey(server, org.key, role)
      const filled = await fillPath(server, swept, org)
      const accepted = await preparedCall(server, swept, org)
      const state = await stateOf(org.id)
      const answer = await call(method, filled, { key, ...accepted })
      if (roles.indexOf(role) >= roles.indexOf(access.role)) {
        expect(answer.status, `${role}: ${answer.text}`).toBeLessThan(400)
      } else {
        expectError(answer, 403, 'forbidden')
        expect(await stateOf(org.id)).toBe(state)
      }
    }
  })

  it('answers 403 to a suspended organization', async () => {
    const org = await makeOrganization(server)
    const filled = await fillPath(server, swept, org)
    const accepted = await preparedCall(server, swept, org)
    await call('POST', `/v1/organizations/${org.id}/suspend`, { key: serviceKey })
    expectError(await call(method, filled, { key: org.key, ...accepted }), 403, 'forbidden')
  })

  const { entitlement, feature } = access
  if (entitlement ?? feature)
    it('needs what it declares', async () => {
      const switches = {
        ...(entitlement && { entitlements: { [entitlement]: false } }),
        ...(feature && !entitlement && { features: { [feature]: false } }),
      }
      const org = await makeOrganization(server, switches)
      const answer = await call(method, path.replaceAll(/\{\w+\}/g, randomUUID()), { key: org.key })
      expectError(answer, entitlement ? 403 : 503, entitlement ? 'forbidden' : 'temporarily unavailable')
    })
})
