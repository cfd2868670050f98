import Type, { type Static, type TSchema } from 'typebox'
import { Closed, Nullable } from '../platform/http/schemas.ts'

/** The sound measures of a recording. A measure is null if this recording can't have it. */

const Milliseconds = Type.Integer({ minimum: 0 })
const Decibels = Type.Number()
const Lufs = Type.Number()
const Count = Type.Integer({ minimum: 0 })

const Spread = Nullable(
  Closed({ count: Type.Integer({ minimum: 1 }), p50: Milliseconds, p95: Milliseconds, max: Milliseconds }),
)

const bySide = <T extends TSchema>(value: T) => Closed({ agent: value, customer: value })

export const SoundMeasures = Closed(
  {
    responseMs: { ...bySide(Spread), description: 'The silence before each side’s responses.' },
    firstSpeechMs: { ...bySide(Nullable(Milliseconds)), description: 'When each side first speaks.' },
    talkMs: { ...bySide(Nullable(Milliseconds)), description: 'How long each side speaks.' },
    talkRatio: Nullable(
      Type.Number({ minimum: 0, maximum: 1, description: 'The agent’s share of both sides’ speech.' }),
    ),
    talkOverMs: Nullable({ ...Milliseconds, description: 'How long both sides speak at the same time.' }),
    interruptions: {
      ...bySide(Nullable(Type.Integer({ minimum: 0 }))),
      description:
        'How often each side began to speak during the other’s speech and was still speaking when the other stopped.',
    },
    stopMs: { ...bySide(Spread), description: 'How long each side kept speaking when it was interrupted.' },
    silenceMs: { ...Milliseconds, description: 'How long nobody speaks.' },
    longestSilenceMs: Milliseconds,
    speechDb: {
      ...bySide(Nullable(Decibels)),
      description: 'The level of each side’s speech, relative to full scale.',
    },
    noiseDb: {
      ...bySide(Nullable(Decibels)),
      description: 'The level of each side’s background, relative to full scale.',
    },
    loudnessLufs: {
      ...bySide(Nullable(Lufs)),
      description: 'The integrated loudness of each side’s channel (EBU R 128).',
    },
    loudnessDifferenceLu: Nullable(
      Type.Number({ description: 'How much louder the agent is than the customer. Negative if the agent is quieter.' }),
    ),
    overallLoudnessLufs: Nullable({
      ...Lufs,
      description: 'The integrated loudness of the recording. Null if silent.',
    }),
    loudnessRangeLu: Nullable(
      Type.Number({ minimum: 0, description: 'The difference between loud and quiet parts (EBU Tech 3342).' }),
    ),
    echoDb: {
      ...bySide(Nullable(Decibels)),
      description:
        'The level of the other side’s echo in each side’s channel, relative to the other side’s speech. Null if none was found.',
    },
    peakDb: { ...Decibels, description: 'The highest level of all samples, relative to full scale.' },
    clippedSamples: {
      ...Type.Integer({ minimum: 0 }),
      description: 'Samples at the limit of the format, three or more in a row.',
    },
    dropouts: {
      ...Type.Integer({ minimum: 0 }),
      description: 'Digital silence of 20 ms to 1.5 s in the middle of a sound.',
    },
    packetGaps: { ...Count, description: 'Other sudden gaps in a sound, such as from lost packets. An estimate.' },
    dtmfDigits: { ...Count, description: 'How many telephone keys were pressed.' },
    tones: { ...Count, description: 'Tones such as ringing and busy signals. An estimate.' },
    beeps: { ...Count, description: 'Single beeps, such as that of a voicemail box. An estimate.' },
    holdMusicMs: { ...Milliseconds, description: 'How long hold music plays. An estimate.' },
    cutOffEnds: {
      ...Count,
      description: 'Channels with speech that is cut off at the end of the recording. An estimate.',
    },
    reportedLatencyDifferenceMs: Nullable({
      ...Type.Integer(),
      description:
        'The agent’s measured median response time minus the reported one. Positive if customers wait ' +
        'longer than reported.',
    }),
  },
  { title: 'SoundMeasures' },
)
export type SoundMeasures = Static<typeof SoundMeasures>
