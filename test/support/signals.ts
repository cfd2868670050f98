import { measure, signalsOf } from '../../server/transcripts/signals/compute.ts'
import type { Signals } from '../../server/transcripts/signals/signals.ts'
import type { Turn } from '../../server/transcripts/turn.ts'

export const computeSignals = (turns: Turn[], durationMs?: number | null): Signals =>
  signalsOf(measure(turns), durationMs)
