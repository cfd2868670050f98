import { type Notice, readPayload } from '../platform/changes/changes.ts'

/** How much is kept to replay an organization's streams. A payload has at most 8 KB. */
const mostNotices = 256
const mostCharacters = 64 * 1024

/** The latest notifications of an organization, for clients that reconnect. */
export const openRing = (position: string) => {
  let held: { id: string; payload: string | undefined }[] = [{ id: position, payload: undefined }]
  let characters = 0

  return {
    /** The ID of the latest one. */
    position: (): string => held.at(-1)?.id ?? position,
    add: (id: string, payload: string): void => {
      held.push({ id, payload })
      characters += payload.length
      while (held.length > mostNotices || (characters > mostCharacters && held.length > 1)) {
        characters -= held.shift()?.payload?.length ?? 0
      }
    },
    /** Everything after a position; undefined if something may be missing. */
    after: (id: string): Notice[] | undefined => {
      const at = held.findIndex((each) => each.id === id)
      if (at < 0) return undefined
      return held.slice(at + 1).flatMap(({ payload }) => (payload === undefined ? [] : readPayload(payload)))
    },
    /** Starts over: some were missed. */
    restart: (id: string): void => {
      held = [{ id, payload: undefined }]
      characters = 0
    },
  }
}

export type Ring = ReturnType<typeof openRing>
