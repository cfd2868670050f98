import { expect } from 'vitest'
import type { Hints } from '../../server/transcripts/draft.ts'
import { readTranscript } from '../../server/transcripts/read-transcript.ts'
import type { Turn } from '../../server/transcripts/turn.ts'

const unset = {
  kind: 'message',
  text: null,
  startMs: null,
  endMs: null,
  interrupted: false,
  words: null,
  tool: null,
  latency: null,
} as const

const noFigures = { transcriptionMs: null, endOfTurnMs: null, modelMs: null, voiceMs: null, totalMs: null }

export const tool = (tool: Partial<Turn['tool']>): Turn['tool'] => ({
  callId: null,
  name: null,
  arguments: null,
  result: null,
  isError: null,
  ...tool,
})

export const latency = (figures: Partial<Turn['latency']>): Turn['latency'] => ({ ...noFigures, ...figures })

export type PartialTurn = Partial<Turn> & Pick<Turn, 'role'>

/** Completes turns with default values. */
export const turnsOf = (said: PartialTurn[]): Turn[] => said.map((turn, index) => ({ index, ...unset, ...turn }))

/** Reads the content and compares every field of every turn. */
export const expectTurns = (content: unknown, hints: Hints, format: string, said: PartialTurn[]): void => {
  expect(readTranscript(content, hints)).toEqual({ format, turns: turnsOf(said) })
}

export const expectUnreadable = (content: unknown, reason: string): void => {
  expect(readTranscript(content)).toEqual({ unreadable: expect.stringContaining(reason) })
}
