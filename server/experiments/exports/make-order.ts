import { localTime } from '../../exports/configuration.ts'
import type { ObservationOrder } from '../../exports/generation/order.ts'
import { explainFilter } from '../../filters/explain.ts'
import { findNames } from '../../filters/names/queries.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import type { AssignmentUnit } from '../assignment-unit.ts'
import { parseCohort } from '../cohort.ts'
import { measureName } from '../measures.ts'
import { getExperiment, listOutcomes, type StoredExperiment, type StoredOutcome } from '../queries.ts'
import type { ExperimentExportConfiguration } from './configuration.ts'

type Ordered = { id: string; experimentId: string; createdAt: Date; config: object }

const unitInWords = ({ kind, key }: AssignmentUnit): string =>
  `${kind === 'auto' ? 'Customer' : `Metadata key “${key}”`}, or the conversation if it is missing`

const cohortInWords = ({ takes, leaves }: ReturnType<typeof parseCohort>, names: ReadonlyMap<string, string>): string =>
  [
    ...takes.map((one) => explainFilter(one, names)),
    ...leaves.map((one) => `not ${explainFilter(one, names)}`),
    ...(leaves.length > 0 ? ['with a company'] : []),
  ].join('; ') || 'All conversations of both versions'

const valueInWords = ({ measure, kind }: StoredOutcome): string => {
  if (measure === null) return kind === 'boolean' ? '1 if affected, 0 if not' : 'the score'
  if (measure.kind === 'category') return `1 with the category “${measure.label}”, 0 without`
  return kind === 'boolean' ? `1 if ${measure.field} is true, 0 if not` : measure.field
}

const outcomeInWords = (outcome: StoredOutcome): string =>
  `${outcome.monitorName}, version ${outcome.monitorVersion}; the value is ${valueInWords(outcome)}`

/** Returns the prefix of an outcome's columns. */
const columnName = (outcome: StoredOutcome): string =>
  [outcome.monitorName, measureName(outcome)].filter((part) => part !== undefined).join(' ')

type Described = {
  stored: Ordered
  config: ExperimentExportConfiguration
  experiment: StoredExperiment
  outcomes: StoredOutcome[]
  cohort: ReturnType<typeof parseCohort>
  names: ReadonlyMap<string, string>
}

/** Describes the experiment in words, for people who read the file. */
const describe = ({ stored, config, experiment, outcomes, cohort, names }: Described): ObservationOrder['about'] => {
  const { timezone, reasoning } = config
  const at = (moment: Date) => {
    const text = moment.toISOString()
    return timezone === 'UTC' ? text : `${text} (in ${timezone} ${localTime(text, timezone)})`
  }
  const arm = (name: string | null, versionId: string) =>
    [name, `version ${names.get(versionId) ?? versionId}`].filter((part) => part !== null).join(': ')
  const { expectedArmAPercent: percent, finishedAt, description } = experiment
  return [
    { label: 'Export', value: stored.id },
    { label: 'Requested', value: at(stored.createdAt) },
    { label: 'Experiment', value: experiment.name },
    { label: 'Experiment ID', value: experiment.id },
    ...(description === null ? [] : [{ label: 'Description', value: description }]),
    { label: 'Launched', value: at(experiment.startedAt) },
    { label: 'State', value: finishedAt ? `finished ${at(finishedAt)}` : 'running' },
    { label: 'Arm A', value: arm(experiment.armAName, experiment.armAVersionId) },
    { label: 'Arm B', value: arm(experiment.armBName, experiment.armBVersionId) },
    { label: 'Expected share of arm A', value: percent === null ? 'none' : `${percent}%` },
    { label: 'Conversations', value: cohortInWords(cohort, names) },
    { label: 'Unit', value: unitInWords(experiment.assignmentUnit) },
    ...outcomes.map((outcome) => ({
      label: outcome.isPrimary ? 'Primary outcome' : 'Outcome',
      value: outcomeInWords(outcome),
    })),
    {
      label: 'Observations',
      value:
        'observed: has a value; pending: evaluation not finished; missing: no result; failed: evaluation ' +
        'failed; empty: the outcome does not apply to the conversation',
    },
    { label: 'Reasoning', value: reasoning ? 'included' : 'not included' },
  ]
}

/** Returns everything that is needed to generate an export of observations. */
export const makeObservationOrder = async (
  { db }: Pick<Deps, 'db'>,
  org: OrgId,
  stored: Ordered,
  key: string,
): Promise<ObservationOrder> => {
  // Only the endpoint that creates exports writes the configuration, in this format.
  const config = stored.config as ExperimentExportConfiguration
  const experiment = await getExperiment(db, org, stored.experimentId)
  const outcomes = await listOutcomes(db, org, experiment.id)
  const cohort = parseCohort(experiment.cohortFilters)
  const versions = { agentVersionIds: [experiment.armAVersionId, experiment.armBVersionId] }
  const names = await findNames(db, org, [versions, ...cohort.takes, ...cohort.leaves])
  const { format, reasoning } = config
  return {
    org,
    key,
    format,
    reasoning,
    experimentId: experiment.id,
    outcomes: outcomes.map((outcome) => ({
      id: outcome.monitorId,
      name: columnName(outcome),
      version: outcome.monitorVersion,
    })),
    about: describe({ stored, config, experiment, outcomes, cohort, names }),
  }
}
