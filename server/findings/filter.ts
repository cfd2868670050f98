import type { Static } from 'typebox'
import { invalid } from '../platform/errors.ts'
import type { FindingFilter } from './queries.ts'
import { type FindingQuery, findingPriorities, findingStatuses, lastFindingType } from './schema.ts'

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

type Form = (part: string) => boolean

const matching = (name: string, text: string | undefined, fits: Form, what: string): string[] | undefined => {
  const parts = text === undefined ? undefined : partsOf(text)
  const other = parts?.find((part) => !fits(part))
  if (other !== undefined) throw invalid(name, `“${other}” must be ${what}`)
  return parts
}

const isUuid: Form = (part) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(part)
const isType: Form = (part) => /^\d{1,5}$/.test(part) && Number(part) <= lastFindingType

const ids = (name: string, text: string | undefined) =>
  matching(name, text, isUuid, 'a UUID')?.map((id) => id.toLowerCase())

const tagsOf = (text: string | undefined): string[] | undefined => {
  const tags = text === undefined ? undefined : partsOf(text).filter((tag) => tag !== '')
  if (tags?.length === 0) throw invalid('tags', 'must name a tag')
  return tags
}

export const parseFilter = (query: Static<typeof FindingQuery>): FindingFilter => ({
  statuses: choices('status', query.status, findingStatuses),
  priorities: choices('priority', query.priority, findingPriorities),
  tags: tagsOf(query.tags),
  findingTypes: matching('findingType', query.findingType, isType, `from 0 to ${lastFindingType}`)?.map(Number),
  assigneeUserIds: ids('assigneeUserId', query.assigneeUserId),
  monitorIds: ids('monitorId', query.monitorId),
  conversationIds: ids('conversationId', query.conversationId),
})
