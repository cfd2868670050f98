import Type, { type Static } from 'typebox'
import { Choice, Closed, Email, Id, Nullable, PageQuery, Timestamp } from '../platform/http/schemas.ts'
import { AssignmentUnit } from './assignment-unit.ts'
import { CohortFilter } from './cohort.ts'
import { experimentStatuses } from './experiment-status.ts'
import { mostOutcomes, OutcomeMeasure } from './measures.ts'

const Title = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' })
const ExperimentName = { ...Title, examples: ['Shorter greeting'] }
const Description = Type.String({ maxLength: 2_000 })
const ArmName = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', examples: ['Short'] })
const ExpectedPercent = Type.Integer({ minimum: 1, maximum: 99, examples: [50] })

const Outcomes = Type.Array(Id, {
  minItems: 1,
  maxItems: mostOutcomes,
  description: 'Distinct enabled monitors, each measured as an outcome.',
})

const Emails = Type.Array(Email, { maxItems: 20 })
const Notifications = Closed({
  emails: { ...Emails, description: 'The people to notify about the launch, routing problems, and the end.' },
})

export const ExperimentLaunch = Closed(
  {
    name: ExperimentName,
    agentId: Id,
    armAVersionId: { ...Id, description: 'The prompt version of arm A, the baseline.' },
    armBVersionId: { ...Id, description: 'The prompt version of arm B.' },
    outcomeMetricIds: Outcomes,
    primaryMetricId: {
      ...Id,
      description:
        'One of the outcomes. The others never affect its significance. If the monitor has several measures, the ' +
        'first one is primary.',
    },
    outcomeMeasures: Type.Optional(
      Type.Array(OutcomeMeasure, {
        maxItems: mostOutcomes,
        description:
          'What to measure about each monitor. Each measure is a separate outcome. A monitor that is not listed has ' +
          'one outcome: its result.',
      }),
    ),
    stableRoutingConfirmed: Type.Boolean({
      description: 'Confirms that each unit is always routed to the same arm. Must be true.',
    }),
    description: Type.Optional(Description),
    armAName: Type.Optional(ArmName),
    armBName: Type.Optional(ArmName),
    cohortFilters: Type.Optional(
      Type.Array(CohortFilter, { maxItems: 8, description: 'A conversation must match all of them.' }),
    ),
    assignmentUnit: Type.Optional(AssignmentUnit),
    expectedArmAPercent: Type.Optional({
      ...ExpectedPercent,
      description: 'The percentage of units that arm A should get. Without it, the split is not tested.',
    }),
    monitorGroupId: Type.Optional({
      ...Id,
      description: 'A group with exactly the metrics in `outcomeMetricIds`. Not allowed with `newMonitorGroupName`.',
    }),
    newMonitorGroupName: Type.Optional({
      ...Title,
      description: 'Saves `outcomeMetricIds` as a group with this name.',
    }),
    notifications: Type.Optional(Notifications),
  },
  { title: 'ExperimentLaunch' },
)
export type ExperimentLaunch = Static<typeof ExperimentLaunch>

export const launched = {
  id: Id,
  name: ExperimentName,
  description: Nullable(Description),
  status: Choice(experimentStatuses),
  agentId: Id,
  armAVersionId: Id,
  armBVersionId: Id,
  armAName: Nullable(ArmName),
  armBName: Nullable(ArmName),
  outcomeMetricIds: Outcomes,
  primaryMetricId: Id,
  outcomeMeasures: Type.Array(OutcomeMeasure, { description: 'What each outcome measures, in order.' }),
  stableRoutingConfirmed: Type.Boolean(),
  cohortFilters: Type.Array(CohortFilter),
  assignmentUnit: AssignmentUnit,
  expectedArmAPercent: Nullable(ExpectedPercent),
  monitorGroupId: Nullable(Id),
  notifications: Notifications,
  startedAt: Timestamp,
  finishedAt: Nullable(Timestamp),
  finishedByUserId: Nullable(Id),
  createdByUserId: Id,
}

export const ExperimentSummary = Closed(launched, { title: 'ExperimentSummary' })

export const ExperimentQuery = Closed({
  ...PageQuery.properties,
  status: Type.Optional(Choice(experimentStatuses, { description: 'Only experiments with this status.' })),
  agentId: Type.Optional({ ...Id, description: 'Only this agent’s experiments.' }),
})
