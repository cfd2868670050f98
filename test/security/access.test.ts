import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { elsewhere, makeOrganization } from '../make.ts'
import {
  acceptedCall,
  hasId,
  listOperations,
  pathWith,
  preparedCall,
  type SweptOperation,
  sharedIds,
} from '../operations.ts'
import { type TestCall, testServer } from '../server.ts'
import { changedRows, storedRows } from '../stored.ts'
import { ruleOf } from './access-rules.ts'
import { type AccessCase, type AccessOutcome, type Caller, makeCallers } from './callers.ts'

/** Calls every operation as every caller, and compares the responses with the access rules and docs/security.md. */

const server = await testServer({
  EARSHOT_TRUST_PROXY: '1',
  EARSHOT_SMTP_URL: 'smtp://127.0.0.1:1',
  EARSHOT_LIMITS: 'ratePerSecond=1000000,rateBurst=1000000',
})
const operations = listOperations(server)
const home = await makeOrganization(server)
const idsOfHome = sharedIds(server, home)
const callers = await makeCallers(server, home)
const columns = [...new Set(callers.map(({ column }) => column))]
const page = join(import.meta.dirname, '../../docs/security.md')

type Target = { swept: SweptOperation; asked: AccessCase; path: string; accepted: Partial<TestCall> }

/** Returns whether an operation creates exports that can notify an endpoint. */
const namesEndpoint = ({ name }: SweptOperation) =>
  /^POST \/v1\/((monitor|conversation)-exports(\/preview)?|export-schedules)$/.test(name)

const withEndpoint = ({ body, ...call }: Partial<TestCall>): Partial<TestCall> => {
  const { config, ...rest } = body as { config: object; destination?: object }
  return {
    ...call,
    body: rest.destination ? body : { ...rest, config: { ...config, notificationEndpointId: randomUUID() } },
  }
}

/** Returns a valid request for the organization's own resources, so that responses only depend on the caller. */
const makeTarget = async (swept: SweptOperation): Promise<Target> => {
  const ids = swept.path.startsWith('/files/') ? [] : await idsOfHome(swept)
  if (hasId(swept)) for (const id of ids) theirs.add(id)
  const rule = ruleOf(swept.name)
  if (!rule) throw new Error(`test/security/access-rules.ts says nothing of ${swept.name}`)
  // The caller provides sessions and passwords.
  const isWayIn = rule === 'session' || rule === 'visitor'
  const prepared = isWayIn ? acceptedCall(swept) : await preparedCall(server, swept, home)
  const accepted = namesEndpoint(swept) ? withEndpoint(prepared) : prepared
  return {
    swept,
    asked: { rule, reads: swept.method === 'GET', hasId: hasId(swept), namesEndpoint: namesEndpoint(swept) },
    path: swept.path.startsWith('/files/') ? '/files/nothing' : pathWith(swept, ids),
    // Operations that use a session or a signature only get the caller's, if any.
    accepted: { ...accepted, ...(typeof rule === 'string' && { headers: {} }) },
  }
}

/** Texts that no other caller's response may contain. */
const theirs = new Set([home.id])

const send = async (
  { swept, accepted }: Target,
  caller: Caller,
  path: string,
  headers: Record<string, string> = {},
) => {
  // An event stream has no end to wait for.
  if (swept.name === 'GET /v1/stream') {
    const { status, text } = await server.call('GET', path, {
      headers: { ...elsewhere(), ...caller.headers, ...headers },
    })
    return { status, text }
  }
  const payload = accepted.raw ?? (accepted.body === undefined ? undefined : JSON.stringify(accepted.body))
  const {
    statusCode,
    headers: answer,
    body,
  } = await server.app.inject({
    // All methods in the document are HTTP methods.
    method: swept.method as 'GET',
    url: path,
    headers: {
      ...(accepted.body !== undefined && { 'content-type': 'application/json' }),
      ...accepted.headers,
      ...elsewhere(),
      ...caller.headers,
      ...headers,
    },
    ...(payload !== undefined && { payload: typeof payload === 'string' ? payload : Buffer.from(payload) }),
  })
  if (statusCode === 401) expect(answer['www-authenticate']).toBe('Bearer')
  if (statusCode >= 400)
    expect(JSON.parse(body)).toMatchObject({ error: expect.any(String), message: expect.any(String) })
  return { status: statusCode, text: body }
}

/**
 * Returns whether a caller is admitted. An admitted caller's request reaches validation and fails there, so that
 * nothing changes.
 */
const isLetIn = async (target: Target, caller: Caller): Promise<number | 'pass'> => {
  const { swept, path } = target
  if (swept.foreign) {
    const { status } = await send(target, caller, path, { 'content-type': 'text/plain' })
    return status === 415 ? 'pass' : status
  }
  const { status, text } = await send(target, caller, `${path}${path.includes('?') ? '&' : '?'}surprise=1`)
  return status === 400 && text.includes('surprise') ? 'pass' : status
}

const measure = async (target: Target, caller: Caller): Promise<AccessOutcome | number | string> => {
  const expected = caller.expected(target.asked)
  if (expected === 'pass') return isLetIn(target, caller)
  if (expected === 'own' && !target.asked.reads) {
    const letIn = await isLetIn(target, caller)
    return letIn === 'pass' ? 'own' : letIn
  }
  const { status, text } = await send(target, caller, target.path)
  if (expected !== 'own') return status
  const leaked = [...theirs].find((id) => text.includes(id))
  return leaked ? `shows ${leaked}` : status < 300 ? 'own' : status
}

const targets: Target[] = []
for (const swept of operations) targets.push(await makeTarget(swept))
const before = await storedRows(server)

/** The responses by the name of the operation, in the order of the callers. */
const answered = new Map<string, (AccessOutcome | number | string)[]>()
afterAll(() => answered.clear())

const cellOf = (outcomes: (AccessOutcome | number | string)[], byRole: string): string => {
  const distinct = [...new Set(outcomes.map((each) => (each === 'pass' ? '✓' : String(each))))]
  if (distinct.length > 1 && outcomes.slice(0, 4).join() === byRole) return 'by role'
  return distinct.join(', ')
}

const row = (name: string): string => {
  const outcomes = answered.get(name) ?? []
  const of = (column: string) => outcomes.filter((_, index) => callers[index]?.column === column)
  const byRole = ['viewer', 'member', 'admin', 'owner'].flatMap(of).join()
  return `| \`${name}\` | ${columns.map((column) => cellOf(of(column), byRole)).join(' | ')} |`
}

describe('the declared access', () => {
  it.each(operations)('of $name equals the access rule', ({ name, access }) => {
    const rule = ruleOf(name)
    const isOpen = rule === 'anyone' || rule === 'visitor' || rule === 'session' || rule === 'signature'
    expect(access).toEqual(isOpen ? 'public' : rule)
  })
})

it.each(targets)('$swept.name responds to each caller as the access rules say', async (target) => {
  const outcomes = await Promise.all(callers.map((caller) => measure(target, caller)))
  answered.set(target.swept.name, outcomes)
  const told = (outcome: unknown, index: number) => `${callers[index]?.column}: ${outcome}`
  expect(outcomes.map(told)).toEqual(callers.map((caller, index) => told(caller.expected(target.asked), index)))
})

it('none of these requests changed anything', async () => {
  expect(changedRows(before, await storedRows(server))).toEqual({ came: [], went: [] })
})

/** Reads the routes from the tree that Fastify prints, where each line has a part of a path. */
const listRoutes = (): string[] => {
  const parts: string[] = []
  return server.app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] = /^([│ ]*)[└├]── (\S+)(?: \((.+)\))?$/.exec(line) ?? []
      parts.splice(indent.length / 4, parts.length, part)
      const path = parts.join('').replaceAll(/(?<=\/):(\w+)/g, '{$1}')
      return methods.split(', ').flatMap((method) => (method === '' ? [] : `${method} ${path}`))
    })
}

it('only pages, single sign-on, metrics, and MCP, which calls listed operations, are missing from the table', () => {
  const names = new Set(operations.map(({ name }) => name))
  const routes = listRoutes()
  // A console section serves all paths below its own, and some of its pages have separate documents.
  const sections = routes.filter((route) => /^(GET|HEAD) \/[a-z-]+\*$/.test(route)).map((route) => route.slice(0, -1))
  const isPage = (route: string) =>
    /^(GET|HEAD) \/(docs.*|console\/.*|.*\*)?$/.test(route) ||
    sections.some((section) => route === section || route.startsWith(`${section}/`))
  // Fastify adds HEAD to every GET.
  const others = routes.filter((route) => !names.has(route.replace(/^HEAD/, 'GET')) && !isPage(route))
  const known = ['GET /auth/oidc', 'GET /auth/oidc/callback', 'GET /metrics', 'GET /openapi.json', 'POST /mcp']
  expect(others.filter((route) => !route.startsWith('HEAD')).sort()).toEqual(known)
})

it('docs/security.md contains the table that `npm run generate` writes', async () => {
  const table = [
    `| operation | ${columns.join(' | ')} |`,
    `|---|${'---|'.repeat(columns.length)}`,
    ...operations.map(({ name }) => row(name)),
  ]
  const text = await readFile(page, 'utf8')
  const written = text.replace(/^\| operation \|.*?\n\n/ms, () => `${table.join('\n')}\n\n`)
  await expect(written).toMatchFileSnapshot(page)
  expect(written).toContain(table.join('\n'))
})
