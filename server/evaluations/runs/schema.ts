import Type from 'typebox'
import { Filter } from '../../filters/filter.ts'
import { Choice, Closed, Id, Nullable, Timestamp, TimestampInput } from '../../platform/http/schemas.ts'
import { runStatuses } from './run-status.ts'

const Count = Type.Integer({ minimum: 0 })

export const RunParams = Closed({ id: Id, runId: Id })

/** The maximum number of conversations that a run can list. */
const mostListed = 1_000

const requiredUnless = 'Required unless you set `conversationIds`.'
const Since = { ...TimestampInput, description: `Conversations that started at or after this time. ${requiredUnless}` }
const Until = { ...TimestampInput, description: `Conversations that started before this time. ${requiredUnless}` }

export const RunCreate = Closed(
  {
    since: Type.Optional(Since),
    until: Type.Optional(Until),
    filter: Type.Optional(Filter),
    conversationIds: Type.Optional(
      Type.Array(Id, {
        minItems: 1,
        maxItems: mostListed,
        uniqueItems: true,
        description:
          'The conversations to evaluate, instead of a period and a filter. The sampling rate does not apply to them.',
      }),
    ),
    mode: Type.Optional(
      Choice(['standard', 'batch'], {
        description:
          '`batch` sends a judge’s requests to its provider as batches, which are answered within 24 hours, usually for ' +
          'half the price. Requires an OpenAI-compatible, Anthropic, or Azure OpenAI provider. Default: `standard`.',
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'True returns an estimate and evaluates nothing.' })),
  },
  { examples: [{ since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }] },
)

export const Run = Closed(
  {
    id: Id,
    kind: Choice(['backfill', 'experiment']),
    status: Choice(runStatuses),
    total: { ...Count, description: 'The number of conversations to evaluate.' },
    scored: Count,
    unscored: Count,
    failed: Count,
    createdAt: Timestamp,
    startedAt: Nullable(Timestamp),
    finishedAt: Nullable(Timestamp),
    monitorId: Id,
    monitorVersion: Type.Integer({ minimum: 1, description: 'The current version when the run was requested.' }),
    since: Timestamp,
    until: Timestamp,
    filter: Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description: 'The filter from the request, without the period.',
      examples: [{}],
    }),
    listed: Nullable(
      Type.Integer({
        minimum: 1,
        description: 'The number of conversations that the request listed. Null for a period.',
      }),
    ),
    mode: Choice(['standard', 'batch']),
    batch: Nullable(
      Closed(
        {
          status: Choice(['submitting', 'submitted', 'ended'], {
            description:
              'submitting: requests are being sent. submitted: the provider is answering them. ended: their results ' +
              'are stored, and the run evaluates missing conversations with ordinary requests.',
          }),
          requests: { ...Count, description: 'The number of requests in batches.' },
          answered: { ...Count, description: 'The number of these requests that the provider reports as answered.' },
          failed: {
            ...Count,
            description: 'The number of these requests that the provider reports as failed, cancelled, or expired.',
          },
          expiresAt: Nullable({
            ...Timestamp,
            description: 'When unanswered requests expire. Null if there are none.',
          }),
        },
        { description: 'The progress of a run in batches. Null for other runs.' },
      ),
    ),
    failure: Nullable(Type.String({ description: 'Why the run failed.' })),
  },
  { title: 'EvaluationRun' },
)

const Tokens = Closed({ input: Count, output: Count })

export const RunEstimate = Closed(
  {
    conversations: { ...Count, description: 'The number of conversations to evaluate.' },
    answered: {
      ...Count,
      description: 'The number of these conversations that have a result from this version, except failed results.',
    },
    tokens: Nullable({ ...Tokens, description: 'The tokens that a judge would use. Null for a rule.' }),
    cost: Nullable(Type.Number({ minimum: 0, description: 'In US dollars. Null if the model’s price is unknown.' })),
    batch: Nullable(
      Closed(
        { cost: Nullable(Type.Number({ minimum: 0, description: 'Null if the model’s price is unknown.' })) },
        { description: 'What the run would cost with `mode` `batch`. Null if the model does not support batches.' },
      ),
    ),
    basis: Nullable(
      Choice(['results', 'lengths'], {
        description:
          'Whether tokens are estimated from this version’s earlier results, or from the lengths of all transcripts, a sample of them, and the model’s usual answers.',
      }),
    ),
    budgetLeft: Nullable(
      Type.Number({ description: 'The remaining monthly judge budget in US dollars. Null if there is no budget.' }),
    ),
  },
  { title: 'EvaluationEstimate' },
)
