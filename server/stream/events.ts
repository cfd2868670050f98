import type { Change, ChangeKind, Notice } from '../platform/changes/changes.ts'
import type { Resource } from '../platform/changes/resources.ts'

/** If there are more IDs than this, a single event without an ID is sent. */
const mostEvents = 5

type Merged = { change: Change; ids: Set<string> | undefined }

/** Merges the changes in several transactions, so that many changes of one kind become one event. */
export const mergeChanges = (notices: Notice[]): Change[] => {
  const merged = new Map<string, Merged>()
  for (const change of notices.flatMap(({ changes }) => changes)) {
    const { resource, kind, ids, userIds } = change
    const name = `${resource} ${kind} ${userIds ?? ''}`
    const known = merged.get(name) ?? { change, ids: new Set() }
    if (ids === undefined) known.ids = undefined
    else for (const id of ids) known.ids?.add(id)
    merged.set(name, known)
  }
  return [...merged.values()].map(({ change: { resource, kind, userIds }, ids }) => ({
    resource,
    kind,
    ...(ids && ids.size <= mostEvents && { ids: [...ids] }),
    ...(userIds && { userIds }),
  }))
}

export type StreamEvent = { kind: ChangeKind | 'resync'; id?: string; resource: Resource | 'all' }

/** Tells clients that some changes could not be sent, so they have to request everything they show again. */
export const resync: StreamEvent = { kind: 'resync', resource: 'all' }

export const eventsOf = ({ resource, kind, ids }: Change): StreamEvent[] =>
  ids ? ids.map((id) => ({ kind, id, resource })) : [{ kind, resource }]

/**
 * Encodes events. Only the last one contains the position of the stream, so that a client that reconnects in between
 * receives all of them again.
 */
export const encodeEvents = (events: StreamEvent[], position: string): Buffer => {
  const last = events.length - 1
  const lines = events.map((event, at) => `${at === last ? `id: ${position}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
  return Buffer.from(lines.join(''))
}

/** Keeps the connection open. Also moves the position past changes that the reader may not learn about. */
export const heartbeat = (position: string): Buffer => Buffer.from(`: heartbeat\nid: ${position}\n\n`)
