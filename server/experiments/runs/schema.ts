import Type from 'typebox'
import { runStatuses } from '../../evaluations/runs/moves.ts'
import { Choice, Closed, Id, Nullable, Timestamp } from '../../platform/http/schemas.ts'

const Count = Type.Integer({ minimum: 0 })

export const ExperimentRun = Closed(
  {
    id: Id,
    kind: Choice(['experiment']),
    trigger: Choice(['launch', 'retry'], {
      description: 'The run from the launch measures what arrives; each of the others asks again for what was lacking.',
    }),
    status: Choice(runStatuses),
    failure: Nullable(Type.String({ description: 'Why it failed, in words.' })),
    total: { ...Count, description: 'Observations: one for each conversation and outcome that applies to it.' },
    scored: Count,
    unscored: { ...Count, description: 'Could not be scored, or were never produced.' },
    failed: Count,
    createdAt: Timestamp,
    startedAt: Nullable(Timestamp),
    finishedAt: Nullable(Timestamp),
  },
  { title: 'ExperimentRun' },
)
