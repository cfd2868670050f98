import type { Static } from 'typebox'
import { type Issue, invalidAll } from '../platform/errors.ts'
import type { FindingFilter } from './queries.ts'
import { type FindingQuery, findingPriorities, findingStatuses, lastFindingType } from './schema.ts'

type Query = Static<typeof FindingQuery>
type Form = (part: string) => boolean

const partsOf = (text: string): string[] => text.split(',').map((part) => part.trim())

const isUuid: Form = (part) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(part)
const isType: Form = (part) => /^\d{1,5}$/.test(part) && Number(part) <= lastFindingType

export const parseFilter = (query: Query): FindingFilter => {
  const issues: Issue[] = []

  /** Returns the items of a comma-separated list after validating each of them. */
  const parts = (name: Exclude<keyof Query, 'limit'>, fits: Form, fault: string): string[] | undefined => {
    const text = query[name]
    const found = text === undefined ? undefined : partsOf(text)
    for (const other of found?.filter((part) => !fits(part)) ?? []) {
      issues.push({ path: name, message: `contains “${other}”, which ${fault}` })
    }
    return found
  }
  const choices = <V extends string>(name: 'status' | 'priority', known: readonly V[]) =>
    parts(name, (part) => known.some((one) => one === part), `is not one of ${known.join(', ')}`) as V[] | undefined
  const ids = (name: 'assigneeUserId' | 'monitorId' | 'conversationId') =>
    parts(name, isUuid, 'is not a UUID')?.map((id) => id.toLowerCase())

  const tags = query.tags === undefined ? undefined : partsOf(query.tags).filter((tag) => tag !== '')
  if (tags?.length === 0) issues.push({ path: 'tags', message: 'must contain a tag' })
  const filter = {
    tags,
    statuses: choices('status', findingStatuses),
    priorities: choices('priority', findingPriorities),
    findingTypes: parts('findingType', isType, `is not from 0 to ${lastFindingType}`)?.map(Number),
    assigneeUserIds: ids('assigneeUserId'),
    monitorIds: ids('monitorId'),
    conversationIds: ids('conversationId'),
  }
  if (issues.length > 0) throw invalidAll(issues)
  return filter
}
