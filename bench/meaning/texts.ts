// Reads conversations from a file with one JSON object per line, or takes those of the demo.

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { makeConversation } from '../../server/demo/conversation.ts'
import { type Passage, passagesOf } from '../../server/embeddings/passages.ts'
import { readTranscript } from '../../server/transcripts/read-transcript.ts'
import type { Turn } from '../../server/transcripts/turn.ts'
import { makeTurn } from '../../test/support/monitors/model-server.ts'

const fromFile = async (path: string): Promise<Turn[][]> => {
  const conversations: Turn[][] = []
  for await (const line of createInterface({ input: createReadStream(path) })) {
    // The file is the one that the caller names.
    const { turns } = JSON.parse(line) as { turns: { role: 'agent' | 'customer'; text: string }[] }
    conversations.push(turns.map(({ role, text }, index) => makeTurn(index, { role, text })))
  }
  return conversations
}

const ofDemo = (count: number): Turn[][] => {
  const maker = { seed: 1, anchor: new Date('2026-06-01T00:00:00Z'), days: 30, companies: [] }
  return Array.from({ length: count }, (_, number) => {
    const reading = readTranscript(makeConversation(maker, number).transcript)
    return 'turns' in reading ? reading.turns : []
  })
}

/** Returns the passages of conversations. */
export const readPassages = async (path: string | undefined): Promise<Passage[][]> =>
  (path === undefined ? ofDemo(2_000) : await fromFile(path)).map(passagesOf)
