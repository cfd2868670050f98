import { type Notice, readPayload } from '../platform/changes/changes.ts'

/** The number of notifications that are stored to replay an organization's streams. A payload has at most 8 KB. */
const mostNotices = 256
const mostCharacters = 64 * 1024

/** Stores the latest notifications of an organization for clients that reconnect. */
export const openRing = (position: string) => {
  let held: { id: string; payload: string | undefined }[] = [{ id: position, payload: undefined }]
  let characters = 0

  return {
    /** Returns the ID of the latest notification. */
    position: (): string => held.at(-1)?.id ?? position,
    add: (id: string, payload: string): void => {
      held.push({ id, payload })
      characters += payload.length
      while (held.length > mostNotices || (characters > mostCharacters && held.length > 1)) {
        characters -= held.shift()?.payload?.length ?? 0
      }
    },
    /** Returns the notifications after a position, or undefined if some may be missing. */
    after: (id: string): Notice[] | undefined => {
      const at = held.findIndex((each) => each.id === id)
      if (at < 0) return undefined
      return held.slice(at + 1).flatMap(({ payload }) => (payload === undefined ? [] : readPayload(payload)))
    },
    /** Starts over, because notifications were missed. */
    restart: (id: string): void => {
      held = [{ id, payload: undefined }]
      characters = 0
    },
  }
}

export type Ring = ReturnType<typeof openRing>
