// Creates random organizations with few calls, and random export configurations, for tests of generated files.

import { parse } from 'csv-parse/sync'
import type { Kysely } from 'kysely'
import type { Order } from '../../../server/exports/generation/order.ts'
import { parseFilter } from '../../../server/filters/filter.ts'
import type { DB } from '../../../server/platform/db/tables.ts'
import { newId, orgIdOf } from '../../../server/platform/ids.ts'
import { makeOrganization } from '../../make.ts'
import type { TestServer } from '../../server.ts'
import type { ExpectedRow } from './expected-rows.ts'
import type { Draw } from './random.ts'

export const start = Date.UTC(2026, 4, 1)
/** There are so few start times that calls often share one. */
const moments = 25

const values = [
  null,
  'gold',
  'Gold',
  '',
  '9',
  9,
  9.5,
  '10',
  -3,
  true,
  false,
  'true',
  '2026-05-01',
  '2026-05-01T02:00:00+02:00',
  ['a'],
  { a: 1 },
]
const keys = ['plan', 'n', 'it"s, odd']
const texts = ['', 'said', 'a "quote", and\r\na line', '=1+1', ' -2', 'größer 🎧', "'", '＝1']
const ops = [
  'eq',
  'neq',
  'contains',
  'not_contains',
  'gt',
  'gte',
  'lt',
  'lte',
  'is_set',
  'is_not_set',
  'is_true',
  'is_false',
] as const
const compared = ['gold', 'o', '', '9', '9.50', '-3', 'true', 'FALSE', '2026-05-01T00:00:00Z', '2026-04-30', 'x']

type Insertable = Parameters<ReturnType<Kysely<DB>['insertInto']>['values']>[0]

/** Creates a separate organization with everything that an export can contain. */
export const makeCalls = async (server: TestServer, draw: Draw) => {
  const { db } = server.deps
  // The service has just returned this ID, so it is valid.
  const org = orgIdOf((await makeOrganization(server)).id)
  const insert = async (table: keyof DB, rows: object[]) => {
    // The random values include all required columns.
    if (rows.length > 0)
      await db
        .insertInto(table)
        .values(rows as Insertable)
        .execute()
  }
  const of = (fields: object) => ({ organization_id: org, ...fields })
  const ids = (count: number) => Array.from({ length: count }, newId)
  const [companies, agents, groups, monitors] = [ids(2), ids(3), ids(2), ids(4)]
  await insert(
    'companies',
    companies.map((id, n) => of({ id, name: texts[n + 2] })),
  )
  await insert(
    'agents',
    agents.map((id, n) => of({ id, name: `Agent, ${n}`, channel: 'voice' })),
  )
  const versions = agents.flatMap((agent, n) => ids(n).map((id, at) => ({ id, agent, number: at + 1 })))
  await insert(
    'agent_versions',
    versions.map(({ id, agent, number }) =>
      of({ id, agent_id: agent, number, system_prompt: '', config: '{}', content_hash: id }),
    ),
  )
  await insert(
    'agent_groups',
    groups.map((id) => of({ id, name: id })),
  )
  await insert(
    'agent_group_members',
    groups.flatMap((id, n) => agents.slice(n, n + 2).map((agent) => of({ group_id: id, agent_id: agent }))),
  )
  await insert(
    'monitors',
    monitors.map((id, n) =>
      of({
        id,
        name: ['Asked?', 'asked', 'Agent', 'Größe'][n],
        kind: 'external',
        enabled: true,
        scope: '{}',
        sample_percent: 100,
        current_version: 1 + draw.below(3),
      }),
    ),
  )
  const calls = Array.from({ length: draw.below(61) }, () => {
    const agent = draw.one(agents)
    const startedAt = new Date(start + draw.below(moments) * 1_001)
    const metadata = Object.fromEntries(keys.filter(() => draw.chance(0.6)).map((key) => [key, draw.one(values)]))
    return of({
      id: newId(),
      external_id: draw.chance(0.5) ? newId() : null,
      agent_id: agent,
      agent_version_id: draw.one([null, ...versions.filter((version) => version.agent === agent).map(({ id }) => id)]),
      company_id: draw.one([null, ...companies]),
      channel: draw.one(['call', 'chat', 'voicemail']),
      direction: draw.one([null, 'inbound', 'outbound']),
      status: 'completed',
      started_at: startedAt,
      ended_at: draw.one([null, new Date(start + 60_000)]),
      duration_seconds: draw.one([null, 0, 61]),
      customer_id: draw.one([null, ...texts]),
      metadata: JSON.stringify(metadata),
      signals: '{}',
    })
  })
  await insert('conversations', calls)
  const density = draw.one([0.05, 0.3, 0.9])
  await insert(
    'monitor_results',
    calls.flatMap(({ id, started_at }: Record<string, unknown>) =>
      monitors.flatMap((monitor) =>
        [1, 2, 3]
          .filter(() => draw.chance(density))
          .map((version) => {
            const status = draw.one([0, 0, 0, 1, 2])
            return of({
              monitor_id: monitor,
              conversation_id: id,
              call_started_at: started_at,
              monitor_version: version,
              status,
              evaluated_at: new Date(start + draw.below(1e9)),
              result: status === 0 ? draw.below(2) : null,
              score: draw.one([null, 0, 1, -0.25, 0.1234, 1 / 3, 1e21, 5e-7, 123456.789]),
              reasoning: draw.one([null, ...texts]),
              evidence: '[]',
              evaluator: 'test',
            })
          }),
      ),
    ),
  )
  return { org, companies, agents, groups, monitors }
}

type MadeCalls = Awaited<ReturnType<typeof makeCalls>>

export const drawOrder = (draw: Draw, { org, companies, agents, groups, monitors }: MadeCalls): Order => {
  const instant = () => start + draw.below(moments + 1) * 1_001 + draw.one([-1, 0, 0, 1])
  const [since = 0, later = 0] = draw.chance(0.5) ? [start, start + 1e6] : [instant(), instant()].sort((a, b) => a - b)
  const until = Math.max(since + 1, later)
  const metadata = draw.chance(0.3)
    ? Array.from({ length: 1 + draw.below(2) }, () => ({
        key: draw.one(keys),
        op: draw.one(ops),
        value: draw.one(compared),
      }))
    : []
  const asked = draw.chance(0.5) ? (['all'] as const) : (['all', 'affected', 'not_affected'] as const)
  const format = 'csv'
  const { metadata: conditions } = parseFilter({ metadata })
  return {
    org,
    format,
    key: `${org}/exports/${newId()}.csv`,
    monitors: draw.some(monitors, 1 + draw.below(4)).map((id) => ({ id, result: draw.one(asked) })),
    match: draw.one(['all', 'any']),
    versionScope: draw.one(['historical', 'current']),
    reasoning: draw.chance(0.5),
    selection: {
      since: new Date(since).toISOString(),
      until: new Date(until).toISOString(),
      ...(draw.chance(0.2) && { companyIds: [draw.one(companies)] }),
      ...(draw.chance(0.2) && { agentIds: [draw.one(agents)] }),
      ...(draw.chance(0.2) && { agentGroupIds: [draw.one(groups)] }),
      ...(conditions && { metadata: conditions }),
    },
    about: [],
  }
}

/**
 * Parses CSV with empty cells as null. Empty strings are quoted, and an apostrophe before a string that looks like a
 * formula is removed.
 */
export const parseCsv = (text: string): ExpectedRow[] =>
  parse(text, {
    bom: false,
    record_delimiter: '\r\n',
    cast: (value, { quoting, header }) =>
      header ? value : value === '' && !quoting ? null : value.replace(/^'(?= *[=+\-@\t\r\n＝＋－＠])/, ''),
  })
