import type { Static } from 'typebox'
import { invalid } from '../platform/errors.ts'
import type { FindingFilter } from './queries.ts'
import { type FindingQuery, findingPriorities, findingStatuses } from './schema.ts'

const partsOf = (text: string): string[] => text.split(',').map((part) => part.trim())

/** The parts of a comma list, each of which must be known. */
const choices = <V extends string>(name: string, text: string | undefined, known: readonly V[]): V[] | undefined =>
  text === undefined
    ? undefined
    : partsOf(text).map((part) => {
        const found = known.find((one) => one === part)
        if (found === undefined) throw invalid(name, `“${part}” is none of ${known.join(', ')}`)
        return found
      })

const matching = (name: string, text: string | undefined, form: RegExp, what: string): string[] | undefined => {
  const parts = text === undefined ? undefined : partsOf(text)
  const other = parts?.find((part) => !form.test(part))
  if (other !== undefined) throw invalid(name, `“${other}” must be ${what}`)
  return parts
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const ids = (name: string, text: string | undefined) =>
  matching(name, text, uuid, 'a UUID')?.map((id) => id.toLowerCase())

export const parseFilter = (query: Static<typeof FindingQuery>): FindingFilter => ({
  statuses: choices('status', query.status, findingStatuses),
  priorities: choices('priority', query.priority, findingPriorities),
  tags: query.tags === undefined ? undefined : partsOf(query.tags).filter((tag) => tag !== ''),
  findingTypes: matching('findingType', query.findingType, /^\d{1,5}$/, 'a type, such as 0')?.map(Number),
  assigneeUserIds: ids('assigneeUserId', query.assigneeUserId),
  monitorIds: ids('monitorId', query.monitorId),
  conversationIds: ids('conversationId', query.conversationId),
})
