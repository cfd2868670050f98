import Type from 'typebox'
import { Filter } from '../../filters/filter.ts'
import { Choice, Closed, Id, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { runStatuses } from './run-status.ts'

const Count = Type.Integer({ minimum: 0 })
const Cost = Type.Number({ minimum: 0 })

export const SoundRunCreate = Closed(
  {
    filter: Type.Optional({ ...Filter, description: 'The conversations to measure. Default: all.' }),
    again: Type.Optional(
      Type.Boolean({
        description:
          'Also measures recordings that were already measured, for example to add new measures. Default: false.',
      }),
    ),
    transcribe: Type.Optional(
      Type.Boolean({
        description:
          'Also transcribes recordings of conversations that have no transcript, including those that failed before. ' +
          'Default: false.',
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'True returns an estimate and creates nothing.' })),
  },
  { examples: [{ filter: { channels: ['call'] }, again: true }] },
)

export const SoundRun = Closed(
  {
    id: Id,
    status: Choice(runStatuses),
    filter: Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description: 'The filter from the request.',
      examples: [{}],
    }),
    again: Type.Boolean(),
    transcribe: Type.Boolean(),
    transcriptions: Nullable(
      Closed(
        {
          pending: Count,
          completed: Count,
          failed: { ...Count, description: 'For the reason, get the transcript of a conversation.' },
          cost: { ...Cost, description: 'In US dollars, for models with a known price.' },
        },
        { description: 'The transcriptions that the run started. Null if it only measures.' },
      ),
    ),
    total: { ...Count, description: 'The number of recordings to measure or transcribe.' },
    measured: Count,
    unmeasurable: {
      ...Count,
      description: 'Recordings that could not be measured. For the reason, get a conversation’s sound measurements.',
    },
    failed: { ...Count, description: 'Recordings with a file that could not be read. Earshot retries them later.' },
    createdAt: Timestamp,
    startedAt: Nullable(Timestamp),
    finishedAt: Nullable(Timestamp),
    failure: Nullable(Type.String({ description: 'Why the run failed.' })),
  },
  { title: 'SoundRun' },
)

export const SoundRunEstimate = Closed(
  {
    total: { ...Count, description: 'The number of recordings to measure or transcribe.' },
    transcriptions: Nullable(
      Closed(
        {
          recordings: { ...Count, description: 'The recordings to transcribe.' },
          minutes: { ...Cost, description: 'The audio to send. Silence is left out.' },
          cost: { ...Nullable(Cost), description: 'In US dollars. Null if the price of a model is unknown.' },
        },
        { description: 'Null without `transcribe`.' },
      ),
    ),
  },
  { title: 'SoundRunEstimate' },
)
