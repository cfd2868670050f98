import { type ConversationSearch, readConversationSearch } from '../conversations/search.ts'

/** The open review, and the position in its conversation. */
export type RoomSearch = ConversationSearch & { review?: string }

export const readRoomSearch = (search: Record<string, unknown>): RoomSearch => ({
  ...(typeof search.review === 'string' && { review: search.review }),
  ...readConversationSearch(search),
})
