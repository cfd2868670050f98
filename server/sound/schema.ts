import Type, { type TSchema } from 'typebox'
import { Choice, Closed, Nullable } from '../platform/http/schemas.ts'

const Milliseconds = Type.Integer({ minimum: 0 })
const Decibels = Type.Number()
const Channel = Type.Integer({ minimum: 0, maximum: 1, description: 'Counted from 0.' })

const Span = { startMs: Milliseconds, endMs: Milliseconds }

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
      description: 'How often each side began to speak during the other’s speech and continued after it.',
    },
    stopMs: { ...bySide(Spread), description: 'How long each side kept speaking when it was interrupted.' },
    silenceMs: { ...Milliseconds, description: 'How long nobody speaks.' },
    longestSilenceMs: Milliseconds,
    speechDb: { ...bySide(Nullable(Decibels)), description: 'The level of each side’s speech, below full scale.' },
    noiseDb: { ...bySide(Nullable(Decibels)), description: 'The level of each side’s background, below full scale.' },
    peakDb: { ...Decibels, description: 'The highest level of all samples, below full scale.' },
    clippedSamples: {
      ...Type.Integer({ minimum: 0 }),
      description: 'Samples at the limit of the format, three or more in a row.',
    },
    dropouts: {
      ...Type.Integer({ minimum: 0 }),
      description: 'Digital silence of 20 ms to 1.5 s in the middle of a sound.',
    },
  },
  { title: 'SoundMeasures' },
)

export const Sound = Closed(
  {
    status: Choice(['none', 'pending', 'measured', 'unmeasurable'], {
      description: '`none`: there is no stored recording. `pending`: the recording has not been measured yet.',
    }),
    reason: Nullable(Type.String({ description: 'Why the recording could not be measured.' })),
    channels: Nullable(Type.Integer({ minimum: 1, maximum: 2 })),
    sampleRate: Nullable(Type.Integer({ minimum: 1 })),
    durationMs: Nullable(Milliseconds),
    speakers: Closed(
      {
        agent: Nullable(Channel),
        customer: Nullable(Channel),
        by: Choice(['transcript', 'unknown'], { description: 'How the channels’ speakers were determined.' }),
      },
      { description: 'The channel of each side.' },
    ),
    segments: Type.Array(Closed({ channel: Channel, ...Span }), { description: 'When each channel has speech.' }),
    gaps: Type.Array(Closed({ channel: Channel, ...Span }), {
      description: 'The silence before a channel’s response to the other.',
    }),
    talkOver: Type.Array(Closed({ channel: Channel, yielded: Channel, ...Span }), {
      description: 'Both channels have speech. `channel` began second, and `yielded` stopped first.',
    }),
    measures: Nullable(SoundMeasures),
    unmeasured: Type.Record(Type.String(), Type.String(), {
      description: 'Why measures are null, by the name of the measure.',
      examples: [{ responseMs: 'The recording has one channel.' }],
    }),
    marks: Type.Array(Closed({ kind: Choice(['clipping', 'dropout']), channel: Channel, ...Span }), {
      description: 'Where faults occur.',
    }),
    comparison: Nullable(
      Closed(
        { reportedMs: Milliseconds, measuredMs: Milliseconds, differenceMs: Type.Integer() },
        {
          description: 'The agent’s median response time, as reported by the transcript and as measured.',
        },
      ),
    ),
  },
  { title: 'Sound' },
)
