// Adds resource names and console links next to IDs in responses.

import type { ServiceDeps } from '../deps.ts'
import type { OrgId } from '../platform/db/database.ts'
import { isObject } from '../platform/is-object.ts'
import { findNames, type NamedTable } from './queries.ts'

type Json = Record<string, unknown>

type Reference = { table?: NamedTable; page: string }

const references: Record<string, Reference> = {
  agentId: { table: 'agents', page: '/agents/' },
  companyId: { table: 'companies', page: '/companies/' },
  monitorId: { table: 'monitors', page: '/monitors/' },
  findingId: { table: 'findings', page: '/findings/' },
  experimentId: { table: 'experiments', page: '/experiments/' },
  conversationId: { page: '/conversations/' },
}

/** Properties to skip: people's own data can contain other IDs, and turns contain none. */
const foreign = new Set(['metadata', 'content', 'turns', 'description', 'evidence', 'filter', 'filters', 'scope'])

const mostIds = 1_000
const deepest = 6

/** Visits each object in a response. */
const visit = (value: unknown, see: (object: Json) => void, depth = 0): void => {
  if (depth > deepest) return
  if (Array.isArray(value)) for (const item of value) visit(item, see, depth + 1)
  if (!isObject(value)) return
  for (const [name, part] of Object.entries(value)) if (!foreign.has(name)) visit(part, see, depth + 1)
  see(value)
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Surroundings = Pick<ServiceDeps, 'db' | 'baseUrl'>

/** Returns the response with `agentName` and `agentUrl` next to `agentId`, and so on. */
export const withNamesAndLinks = async (
  { db, baseUrl }: Surroundings,
  org: OrgId,
  answer: Json,
  page: string | undefined,
): Promise<Json> => {
  const ids = new Map<NamedTable, Set<string>>()
  visit(answer, (object) => {
    for (const [name, { table }] of Object.entries(references)) {
      const id = object[name]
      if (table === undefined || typeof id !== 'string' || !uuid.test(id)) continue
      const ofTable = ids.get(table) ?? new Set()
      if (ofTable.size < mostIds) ids.set(table, ofTable.add(id))
    }
  })
  const names = new Map<NamedTable, Map<string, string>>()
  for (const [table, found] of ids) names.set(table, await findNames(db, org, table, [...found]))
  const linkTo = (path: string, id: string) => new URL(path + id, baseUrl()).href
  visit(answer, (object) => {
    for (const [name, { table, page: path }] of Object.entries(references)) {
      const id = object[name]
      if (typeof id !== 'string' || !uuid.test(id)) continue
      const about = name.replace(/Id$/, '')
      const known = table === undefined ? undefined : names.get(table)?.get(id)
      if (known !== undefined) object[`${about}Name`] = known
      object[`${about}Url`] = linkTo(path, id)
    }
  })
  if (page === undefined) return answer
  for (const item of Array.isArray(answer.data) ? answer.data : [answer]) {
    if (isObject(item) && typeof item.id === 'string') item.url = linkTo(page, item.id)
  }
  return answer
}
