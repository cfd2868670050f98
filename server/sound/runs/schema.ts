import Type from 'typebox'
import { Filter } from '../../filters/filter.ts'
import { Choice, Closed, Id, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { runStatuses } from './run-status.ts'

const Count = Type.Integer({ minimum: 0 })

export const SoundRunCreate = Closed(
  {
    filter: Type.Optional({ ...Filter, description: 'The conversations to measure. Default: all.' }),
    again: Type.Optional(
      Type.Boolean({
        description:
          'Measures recordings again that were already measured, for example to add new measures. Default: false.',
      }),
    ),
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
    total: { ...Count, description: 'The number of recordings to measure.' },
    measured: Count,
    unmeasurable: { ...Count, description: 'Recordings that could not be measured. `GET …/sound` says why.' },
    failed: { ...Count, description: 'Recordings with a file that could not be read. Earshot retries them later.' },
    createdAt: Timestamp,
    startedAt: Nullable(Timestamp),
    finishedAt: Nullable(Timestamp),
    failure: Nullable(Type.String({ description: 'Why the run failed.' })),
  },
  { title: 'SoundRun' },
)
