// Items of a batch that name their conversation by its id here or by that of its sender.
import { type ApiError, invalid } from '../platform/errors.ts'
import type { ConversationNames } from './queries.ts'

type Item = { conversationId?: string; conversationExternalId?: string }
type Conversation = { id: string; externalId: string | null }

/** What is wrong with the names of an item, if anything. */
export const faultOfNames = ({ conversationId, conversationExternalId }: Item): ApiError | undefined =>
  (conversationId === undefined) === (conversationExternalId === undefined)
    ? invalid('conversationId', 'or conversationExternalId is required, but not both')
    : undefined

/** Tells of an item the id of the conversation that it means, of those that are found. */
export const idsOfNamed = async (
  items: Item[],
  find: (names: ConversationNames) => Promise<Conversation[]>,
): Promise<(item: Item) => string | undefined> => {
  const rows = await find({
    ids: items.flatMap(({ conversationId }) => conversationId ?? []),
    externalIds: items.flatMap(({ conversationExternalId }) => conversationExternalId ?? []),
  })
  const ids = new Set(rows.map(({ id }) => id))
  const byExternalId = new Map(rows.map(({ id, externalId }) => [externalId, id]))
  return ({ conversationId, conversationExternalId }) => {
    if (conversationExternalId !== undefined) return byExternalId.get(conversationExternalId)
    const id = conversationId?.toLowerCase() ?? ''
    return ids.has(id) ? id : undefined
  }
}
