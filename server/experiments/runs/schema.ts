import Type from 'typebox'
import { runStatuses } from '../../evaluations/runs/run-status.ts'
import { Choice, Closed, Id, Nullable, Timestamp } from '../../platform/http/schemas.ts'

const Count = Type.Integer({ minimum: 0 })

export const ExperimentRun = Closed(
  {
    id: Id,
    kind: Choice(['experiment']),
    trigger: Choice(['launch', 'retry'], {
      description:
        '`launch` evaluates arriving conversations. A retry evaluates missing and failed observations again.',
    }),
    status: Choice(runStatuses),
    failure: Nullable(Type.String({ description: 'Why the run failed, in words.' })),
    total: { ...Count, description: 'The number of observations: one per conversation and applicable outcome.' },
    scored: Count,
    unscored: { ...Count, description: 'Observations that are unscored or missing.' },
    failed: Count,
    createdAt: Timestamp,
    startedAt: Nullable(Timestamp),
    finishedAt: Nullable(Timestamp),
  },
  { title: 'ExperimentRun' },
)
