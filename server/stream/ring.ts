import { type Notice, readPayload } from '../platform/changes/changes.ts'

/** The number of notifications that are kept for replaying an organization's streams. A payload has at most 8 KB. */
const mostNotices = 256
const mostCharacters = 64 * 1024

/** Keeps an organization's latest notifications for clients that reconnect. */
export const openRing = (position: string) => {
  let notices: { id: string; payload: string | undefined }[] = [{ id: position, payload: undefined }]
  let characters = 0

  return {
    /** Returns the ID of the latest notification. */
    position: (): string => notices.at(-1)?.id ?? position,
    add: (id: string, payload: string): void => {
      notices.push({ id, payload })
      characters += payload.length
      while (notices.length > mostNotices || (characters > mostCharacters && notices.length > 1)) {
        characters -= notices.shift()?.payload?.length ?? 0
      }
    },
    /** Returns the notifications after a position, or undefined if some may be missing. */
    after: (id: string): Notice[] | undefined => {
      const at = notices.findIndex((each) => each.id === id)
      if (at < 0) return undefined
      return notices.slice(at + 1).flatMap(({ payload }) => (payload === undefined ? [] : readPayload(payload)))
    },
    /** Starts over, because notifications were missed. */
    restart: (id: string): void => {
      notices = [{ id, payload: undefined }]
      characters = 0
    },
  }
}

export type Ring = ReturnType<typeof openRing>
