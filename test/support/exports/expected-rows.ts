// Computes the rows that an export should contain from all rows of the organization, slowly and simply.

import type { Order } from '../../../server/exports/generation/order.ts'
import type { Db, OrgId } from '../../../server/platform/db/database.ts'

type Condition = NonNullable<Order['selection']['metadata']>[number]

const isDecimal = (text: string) => /^-?\d+(\.\d+)?$/.test(text)
const isTime = (text: string) => /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d))?$/.test(text)

const compares = (op: string, a: number, b: number): boolean =>
  op === 'gt' ? a > b : op === 'gte' ? a >= b : op === 'lt' ? a < b : a <= b

const satisfies = (metadata: Record<string, unknown>, { key, op, value = '' }: Condition): boolean => {
  const held = metadata[key] ?? null
  if (op === 'is_not_set') return held === null
  if (op === 'is_set') return held !== null
  if (held === null || typeof held === 'object') return false
  const text = String(held)
  if (op === 'eq') return text === value
  if (op === 'neq') return text !== value
  if (op === 'contains') return text.toLowerCase().includes(value.toLowerCase())
  if (op === 'not_contains') return !text.toLowerCase().includes(value.toLowerCase())
  if (op === 'is_true') return text === 'true'
  if (op === 'is_false') return text === 'false'
  if (isDecimal(text) && isDecimal(value)) return compares(op, Number(text), Number(value))
  if (isTime(text) && isTime(value)) return compares(op, Date.parse(text), Date.parse(value))
  return false
}

export const loadAll = async (db: Db, org: OrgId) => {
  const all = async <
    T extends
      | 'conversations'
      | 'monitor_results'
      | 'monitors'
      | 'agents'
      | 'agent_versions'
      | 'companies'
      | 'agent_group_members',
  >(
    table: T,
  ) =>
    db
      .selectFrom(table as 'conversations')
      .selectAll()
      .where('organization_id', '=', org)
      .execute() as unknown as Promise<Record<string, unknown>[]>
  const [calls, results, monitors, agents, versions, companies, members] = await Promise.all([
    db
      .selectFrom('conversations')
      .selectAll()
      .select(({ cast, ref }) => cast<string>(ref('metadata'), 'text').as('text'))
      .where('organization_id', '=', org)
      .execute(),
    db.selectFrom('monitor_results').selectAll().where('organization_id', '=', org).execute(),
    ...(['monitors', 'agents', 'agent_versions', 'companies', 'agent_group_members'] as const).map(all),
  ])
  return { calls, results, monitors, agents, versions, companies, members } as {
    [N in 'monitors' | 'agents' | 'versions' | 'companies' | 'members']: Record<string, unknown>[]
  } & { calls: typeof calls; results: typeof results }
}

type Everything = Awaited<ReturnType<typeof loadAll>>
export type ExpectedRow = (string | null)[]

const time = (value: Date | null): string | null => value?.toISOString() ?? null
const words = ['not_affected', 'affected']

const wordOf = ({ status, result }: Everything['results'][number]): string => {
  if (status === 1) return 'unscored'
  if (status === 2) return 'failed'
  return words[result ?? -1] ?? '?'
}

export const expectedRows = (all: Everything, order: Order): ExpectedRow[] => {
  const { selection, monitors, match, versionScope, reasoning } = order
  const { since = '', until = '', agentIds, companyIds, agentGroupIds, metadata = [] } = selection
  const field = (list: Record<string, unknown>[], id: string | null, name: string) =>
    (list.find((item) => item.id === id)?.[name] ?? null) as string | number | null

  const resultOf = (monitor: string, call: string) => {
    const current = field(all.monitors, monitor, 'current_version')
    return all.results
      .filter((result) => result.monitor_id === monitor && result.conversation_id === call)
      .filter((result) => versionScope === 'historical' || result.monitor_version === current)
      .sort((a, b) => b.monitor_version - a.monitor_version)[0]
  }

  return all.calls
    .filter(({ started_at }) => started_at >= new Date(since) && started_at < new Date(until))
    .filter(({ agent_id }) => !agentIds || agentIds.includes(agent_id))
    .filter(({ company_id }) => !companyIds || companyIds.includes(company_id ?? ''))
    .filter(
      ({ agent_id }) =>
        !agentGroupIds ||
        all.members.some((member) => member.agent_id === agent_id && agentGroupIds.includes(String(member.group_id))),
    )
    .filter((call) => metadata.every((condition) => satisfies(call.metadata as Record<string, unknown>, condition)))
    .map((call) => ({ call, found: monitors.map(({ id }) => resultOf(id, call.id)) }))
    .filter(({ found }) => found.some((result) => result !== undefined))
    .filter(({ found }) => {
      const explicit = monitors
        .map(({ result }, at) => ({ result, found: found[at] }))
        .filter(({ result }) => result !== 'all')
      const holds = explicit.map(({ result, found: is }) => is?.status === 0 && words[is.result ?? -1] === result)
      return explicit.length === 0 || (match === 'all' ? holds.every(Boolean) : holds.some(Boolean))
    })
    .sort((a, b) => a.call.started_at.getTime() - b.call.started_at.getTime() || (a.call.id < b.call.id ? -1 : 1))
    .map(({ call, found }) => [
      call.id,
      call.external_id,
      time(call.started_at),
      time(call.ended_at),
      call.duration_seconds,
      call.channel,
      call.direction,
      call.agent_id,
      field(all.agents, call.agent_id, 'name'),
      field(all.versions, call.agent_version_id, 'number'),
      call.company_id,
      field(all.companies, call.company_id, 'name'),
      call.customer_id,
      call.text,
      ...found.flatMap((result) => {
        if (!result) return Array<null>(reasoning ? 5 : 4).fill(null)
        const cells = [wordOf(result), result.score, result.monitor_version, time(result.evaluated_at)]
        return reasoning ? [...cells, result.reasoning] : cells
      }),
    ])
    .map((row) => row.map((cell) => (cell === null ? null : String(cell))))
}
