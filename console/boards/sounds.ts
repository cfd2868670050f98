import type { Schemas } from '../api/schema.d.ts'
import { soundLabel } from '../conversations/sound-names.ts'
import type { Option } from '../ui/controls.tsx'

type SoundName = Schemas['SoundMeasure']['name']

/** The sound measures that charts and alerts accept. */
const measured: Record<SoundName, true> = {
  'responseMs.agent.p50': true,
  'responseMs.agent.p95': true,
  'responseMs.agent.max': true,
  'responseMs.customer.p50': true,
  reportedLatencyDifferenceMs: true,
  'firstSpeechMs.agent': true,
  'interruptions.agent': true,
  'interruptions.customer': true,
  'stopMs.agent.p50': true,
  'stopMs.agent.max': true,
  talkOverMs: true,
  talkRatio: true,
  silenceMs: true,
  longestSilenceMs: true,
  'speechDb.agent': true,
  'speechDb.customer': true,
  'noiseDb.customer': true,
  clippedSamples: true,
  dropouts: true,
  'loudnessLufs.agent': true,
  'loudnessLufs.customer': true,
  loudnessDifferenceLu: true,
  overallLoudnessLufs: true,
  loudnessRangeLu: true,
  'echoDb.agent': true,
  'echoDb.customer': true,
  peakDb: true,
  packetGaps: true,
  dtmfDigits: true,
  tones: true,
  beeps: true,
  holdMusicMs: true,
  cutOffEnds: true,
}

export const soundOptions: Option[] = Object.keys(measured).map((value) => ({ value, label: soundLabel(value) }))
