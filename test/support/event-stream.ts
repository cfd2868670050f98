import { request as send } from 'undici'
import { expect } from 'vitest'

export type SentEvent = { kind: string; resource: string; id?: string }

const untilNext = { timeout: 5_000, interval: 10 }

/** Opens an event stream like a client, and collects what arrives. */
export const openEventStream = async (origin: string, headers: Record<string, string>) => {
  const leaving = new AbortController()
  const { statusCode, headers: answered, body } = await send(`${origin}/v1/stream`, { headers, signal: leaving.signal })
  const events: SentEvent[] = []
  const comments: string[] = []
  let lastEventId: string | undefined
  let hasEnded = false

  const readBlock = (block: string) => {
    for (const line of block.split('\n')) {
      if (line.startsWith('id: ')) lastEventId = line.slice(4)
      else if (line.startsWith('data: ')) events.push(JSON.parse(line.slice(6)))
      else if (line.startsWith(':')) comments.push(line)
    }
  }

  const read = async () => {
    let rest = ''
    for await (const chunk of body) {
      const blocks = (rest + chunk).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) readBlock(block)
    }
  }
  const ended = (statusCode === 200 ? read() : body.text())
    .catch(() => {})
    .then(() => {
      hasEnded = true
    })
  const bearer = { status: statusCode, headers: answered }
  return {
    ...bearer,
    events,
    comments,
    body,
    ended,
    hasEnded: () => hasEnded,
    lastEventId: () => lastEventId,
    /** Resolves once the stream is open. */
    ready: () => expect.poll(() => lastEventId, untilNext).toBeDefined(),
    /** Resolves once an event with these properties has arrived. */
    until: (event: Partial<SentEvent>) =>
      expect.poll(() => events, untilNext).toContainEqual(expect.objectContaining(event)),
    close: async () => {
      leaving.abort()
      await ended
    },
  }
}

export type EventStream = Awaited<ReturnType<typeof openEventStream>>
