import Type from 'typebox'
import { Filter } from '../../filters/filter.ts'
import { Choice, Closed, Id, Nullable, Timestamp, TimestampInput } from '../../platform/http/schemas.ts'
import { runStatuses } from './moves.ts'

const Count = Type.Integer({ minimum: 0 })

export const RunParams = Closed({ id: Id, runId: Id })

const Since = { ...TimestampInput, description: 'Of conversations that started at this instant or later.' }
const Until = { ...TimestampInput, description: 'Of conversations that started before this instant.' }

export const RunCreate = Closed(
  {
    since: Since,
    until: Until,
    filter: Type.Optional(Filter),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'True evaluates nothing and answers how much there would be to do.' }),
    ),
  },
  { examples: [{ since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }] },
)

export const Run = Closed(
  {
    id: Id,
    kind: Choice(['backfill', 'experiment']),
    status: Choice(runStatuses),
    total: { ...Count, description: 'How many conversations it goes through.' },
    scored: Count,
    unscored: Count,
    failed: Count,
    createdAt: Timestamp,
    startedAt: Nullable(Timestamp),
    finishedAt: Nullable(Timestamp),
    monitorId: Id,
    monitorVersion: Type.Integer({ minimum: 1, description: 'The one that was current when the run was asked for.' }),
    since: Timestamp,
    until: Timestamp,
    filter: Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description: 'As given, without the window of time.',
      examples: [{}],
    }),
    failure: Nullable(Type.String({ description: 'Why it failed, and so could not go on.' })),
  },
  { title: 'EvaluationRun' },
)

const Tokens = Closed({ input: Count, output: Count })

export const RunEstimate = Closed(
  {
    conversations: { ...Count, description: 'How many the run would go through.' },
    answered: { ...Count, description: 'How many of them have a result of this version that is not failed.' },
    tokens: Nullable({ ...Tokens, description: 'What a judge would take; null for a rule, which takes none.' }),
    cost: Nullable(
      Type.Number({ minimum: 0, description: 'In US dollars; null when the price of the model is not known.' }),
    ),
    basis: Nullable(
      Choice(['results', 'lengths'], {
        description:
          'Whether tokens were estimated from earlier results of this version, or from transcripts’ lengths.',
      }),
    ),
    budgetLeft: Nullable(
      Type.Number({ description: 'Of the monthly budget for judges, in US dollars; null when there is none.' }),
    ),
  },
  { title: 'EvaluationEstimate' },
)
