// Resolves the items in a batch, which identify their conversations by ID or by external ID.
import { type ApiError, invalid } from '../platform/errors.ts'
import type { ConversationNames } from './queries.ts'

type Item = { conversationId?: string; conversationExternalId?: string }
type Conversation = { id: string; externalId: string | null }

/** Returns an error unless the item has exactly one valid ID. */
export const faultOfNames = ({ conversationId, conversationExternalId }: Item): ApiError | undefined =>
  (conversationId === undefined) === (conversationExternalId === undefined)
    ? invalid('conversationId', 'or conversationExternalId is required, but not both')
    : undefined

/** Maps an item to its conversation's ID, if the conversation was found. */
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
