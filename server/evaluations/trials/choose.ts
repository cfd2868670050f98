// Chooses the conversations for a test.
import { parseFilter } from '../../filters/filter.ts'
import { listSelected } from '../../filters/queries.ts'
import { resolve } from '../../filters/resolve.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { type Issue, invalidAll } from '../../platform/errors.ts'
import type { Subject } from '../monitors-in-scope.ts'
import { listSubjects } from '../queries.ts'
import { type Chosen, mostConversations, type TriedKind } from './schema.ts'

type ChooseDeps = Pick<Deps, 'db' | 'meanings'>

const usualLimit = 20

/** Validates a choice of conversations before any are read. */
export const faultsOf = (kind: TriedKind, { conversationIds, filter, limit }: Chosen): Issue[] => {
  const issues: Issue[] = []
  const most = mostConversations[kind]
  const atMost = `at most ${mostConversations.rule} for a rule and ${mostConversations.judge} for a judge`
  if (limit !== undefined && limit > most) issues.push({ path: 'limit', message: `must be ${atMost}` })
  if (conversationIds === undefined) return issues
  if (conversationIds.length > most) issues.push({ path: 'conversationIds', message: `must have ${atMost}` })
  const useless = 'cannot be combined with conversationIds'
  if (filter !== undefined) issues.push({ path: 'filter', message: useless })
  if (limit !== undefined) issues.push({ path: 'limit', message: useless })
  const ids = conversationIds.map((id) => id.toLowerCase())
  ids.forEach((id, at) => {
    if (ids.indexOf(id) < at) issues.push({ path: `conversationIds[${at}]`, message: 'is listed twice' })
  })
  return issues
}

const listNewest = async (
  deps: ChooseDeps,
  org: OrgId,
  { filter = {}, limit = usualLimit }: Chosen,
): Promise<string[]> => {
  const selection = parseFilter(filter, 'filter')
  const { statuses = ['completed'] } = selection
  if (!statuses.includes('completed')) return []
  const completed = await resolve(deps, org, { ...selection, statuses: ['completed'] })
  const rows = await listSelected(deps.db, org, completed, { limit, after: undefined })
  return rows.slice(0, limit).map(({ id }) => id)
}

/** Lists the chosen conversations in their order. If a filter chooses them, lists the latest ones first. */
export const listChosen = async (deps: ChooseDeps, org: OrgId, chosen: Chosen): Promise<Subject[]> => {
  const { db } = deps
  const named = chosen.conversationIds?.map((id) => id.toLowerCase())
  const ids = named ?? (await listNewest(deps, org, chosen))
  const subjects = new Map((await listSubjects(db, org, ids)).map((subject) => [subject.id, subject]))
  const issues = (named ?? []).flatMap((id, at): Issue[] =>
    subjects.has(id)
      ? []
      : [{ path: `conversationIds[${at}]`, message: 'must be a completed conversation of this organization' }],
  )
  if (issues.length > 0) throw invalidAll(issues)
  return ids.flatMap((id) => subjects.get(id) ?? [])
}
