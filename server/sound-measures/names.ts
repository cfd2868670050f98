import type { TSchema } from 'typebox'
import { SoundMeasures } from './measures.ts'

const namesIn = (properties: Record<string, TSchema>): string[] =>
  Object.entries(properties).flatMap(([name, part]) =>
    'properties' in part
      ? namesIn(part.properties as Record<string, TSchema>).map((inner) => `${name}.${inner}`)
      : name,
  )

/** For example, `talkRatio` and `responseMs.agent.p95`. */
export const soundNames: string[] = namesIn(SoundMeasures.properties)

/** The sound measures that can be analyzed over many conversations, each with its path. */
export const soundPaths = {
  'responseMs.agent.p50': ['responseMs', 'agent', 'p50'],
  'responseMs.agent.p95': ['responseMs', 'agent', 'p95'],
  'responseMs.agent.max': ['responseMs', 'agent', 'max'],
  'responseMs.customer.p50': ['responseMs', 'customer', 'p50'],
  reportedLatencyDifferenceMs: ['reportedLatencyDifferenceMs'],
  'firstSpeechMs.agent': ['firstSpeechMs', 'agent'],
  'interruptions.agent': ['interruptions', 'agent'],
  'interruptions.customer': ['interruptions', 'customer'],
  'stopMs.agent.p50': ['stopMs', 'agent', 'p50'],
  'stopMs.agent.max': ['stopMs', 'agent', 'max'],
  talkOverMs: ['talkOverMs'],
  talkRatio: ['talkRatio'],
  silenceMs: ['silenceMs'],
  longestSilenceMs: ['longestSilenceMs'],
  'speechDb.agent': ['speechDb', 'agent'],
  'speechDb.customer': ['speechDb', 'customer'],
  'noiseDb.customer': ['noiseDb', 'customer'],
  clippedSamples: ['clippedSamples'],
  dropouts: ['dropouts'],
  'loudnessLufs.agent': ['loudnessLufs', 'agent'],
  'loudnessLufs.customer': ['loudnessLufs', 'customer'],
  loudnessDifferenceLu: ['loudnessDifferenceLu'],
  overallLoudnessLufs: ['overallLoudnessLufs'],
  loudnessRangeLu: ['loudnessRangeLu'],
  'echoDb.agent': ['echoDb', 'agent'],
  'echoDb.customer': ['echoDb', 'customer'],
  peakDb: ['peakDb'],
  packetGaps: ['packetGaps'],
  dtmfDigits: ['dtmfDigits'],
  tones: ['tones'],
  beeps: ['beeps'],
  holdMusicMs: ['holdMusicMs'],
  cutOffEnds: ['cutOffEnds'],
} satisfies Record<string, string[]>

export type SoundName = keyof typeof soundPaths

// Object.keys loses the literal types.
export const measuredSounds = Object.keys(soundPaths) as SoundName[]
