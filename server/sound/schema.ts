import Type from 'typebox'
import { Choice, Closed, Nullable } from '../platform/http/schemas.ts'
import { SoundMeasures } from '../sound-measures/measures.ts'
import { markKinds } from './measures/marks.ts'

const Milliseconds = Type.Integer({ minimum: 0 })
const Confidence = Type.Number({ minimum: 0, maximum: 1 })
const Channel = Type.Integer({ minimum: 0, maximum: 1, description: 'Counted from 0.' })

const Span = { startMs: Milliseconds, endMs: Milliseconds }

export const Sound = Closed(
  {
    status: Choice(['none', 'pending', 'measured', 'unmeasurable'], {
      description:
        '`none`: there is no stored recording, or the organization does not measure recordings. `pending`: the recording ' +
        'has not been measured yet.',
    }),
    reason: Nullable(Type.String({ description: 'Why the recording could not be measured or will not be measured.' })),
    channels: Nullable(Type.Integer({ minimum: 1, maximum: 2 })),
    sampleRate: Nullable(Type.Integer({ minimum: 1 })),
    durationMs: Nullable(Milliseconds),
    speakers: Closed(
      {
        agent: Nullable(Channel),
        customer: Nullable(Channel),
        by: Choice(['setting', 'transcript', 'unknown'], {
          description:
            'How the channels’ speakers were determined: by `agentChannel` of the agent or the organization, or by the ' +
            'times in the transcript.',
        }),
      },
      { description: 'The channel of each side.' },
    ),
    waveform: Type.Array(Type.Array(Type.Number({ minimum: 0, maximum: 1 })), {
      description: 'For each channel, the highest level within each of 500 equal parts, as an amplitude.',
    }),
    segments: Type.Array(Closed({ channel: Channel, ...Span }), { description: 'When each channel has speech.' }),
    gaps: Type.Array(Closed({ channel: Channel, ...Span }), {
      description: 'The silence before a channel’s response to the other.',
    }),
    talkOver: Type.Array(Closed({ channel: Channel, yielded: Channel, ...Span }), {
      description: 'When both channels have speech. `channel` began second, and `yielded` stopped first.',
    }),
    measures: Nullable(SoundMeasures),
    unmeasured: Type.Record(Type.String(), Type.String(), {
      description: 'Why measures are null, by measure name.',
      examples: [{ responseMs: 'The recording has one channel.' }],
    }),
    confidence: Type.Record(Type.String(), Confidence, {
      description: 'How likely each estimate is to be correct, by measure name.',
      examples: [{ beeps: 0.7 }],
    }),
    marks: Type.Array(
      Closed({
        kind: Choice(markKinds),
        channel: Channel,
        ...Span,
        digits: Nullable(
          Type.String({ description: 'The pressed keys. Null for other kinds, and if the organization redacts.' }),
        ),
        confidence: Nullable({ ...Confidence, description: 'How likely the estimate is to be correct.' }),
      }),
      { description: 'Where faults and signals occur, at most 1,000 of each kind per channel.' },
    ),
    redacted: {
      ...Nullable(Type.Array(Closed(Span))),
      description:
        'Where redacted words are muted or replaced by a tone, in all channels. Measures come from the original. ' +
        'Null if the recording is not redacted.',
    },
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
