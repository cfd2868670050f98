import type { Schemas } from '../api/schema.d.ts'
import { splitList } from '../lib/split-list.ts'

/** The measure of a monitor (its result, a category, or a field), as entered in the form. */
export type MeasureDraft = {
  metricId: string
  kind: 'result' | 'category' | 'field'
  key: string
  low: string
  high: string
}

/** The input of the launch form. */
export type Draft = {
  name: string
  description: string
  agentId: string | null
  armAVersionId: string | null
  armBVersionId: string | null
  armAName: string
  armBName: string
  outcomeMetricIds: string[]
  primaryMetricId: string
  measures: MeasureDraft[]
  monitorGroupId: string | null
  newMonitorGroupName: string
  unit: 'auto' | 'metadata'
  unitKey: string
  expectedArmAPercent: string
  cohortFilters: Schemas['CohortFilter'][]
  emails: string
  stableRoutingConfirmed: boolean
}

export const emptyDraft: Draft = {
  name: '',
  description: '',
  agentId: null,
  armAVersionId: null,
  armBVersionId: null,
  armAName: '',
  armBName: '',
  outcomeMetricIds: [],
  primaryMetricId: '',
  measures: [],
  monitorGroupId: null,
  newMonitorGroupName: '',
  unit: 'auto',
  unitKey: '',
  expectedArmAPercent: '50',
  cohortFilters: [],
  emails: '',
  stableRoutingConfirmed: false,
}

/** Returns the fields that are still missing. */
export const missingFields = (draft: Draft): string[] =>
  [
    draft.name.trim() === '' && 'a name',
    draft.agentId === null && 'an agent',
    (draft.armAVersionId === null || draft.armBVersionId === null) && 'a version for A and one for B',
    draft.outcomeMetricIds.length === 0 && 'an outcome',
    draft.measures.some(({ kind, key }) => kind !== 'result' && key.trim() === '') &&
      'a category or field for each measure',
    draft.unit === 'metadata' && draft.unitKey.trim() === '' && 'the caller’s metadata key',
    !draft.stableRoutingConfirmed && 'the routing confirmation',
  ].filter((lack) => lack !== false)

type Measure = NonNullable<Schemas['ExperimentLaunch']['outcomeMeasures']>[number]

const measureOf = ({ metricId, kind, key, low, high }: MeasureDraft): Measure => {
  if (kind === 'result') return { metricId, kind }
  if (kind === 'category') return { metricId, kind, category: key.trim() }
  const hasRange = low.trim() !== '' || high.trim() !== ''
  // If a bound isn't a number, the API's error says so.
  return { metricId, kind, field: key.trim(), ...(hasRange && { range: { low: Number(low), high: Number(high) } }) }
}

export const bodyOf = (draft: Draft): Schemas['ExperimentLaunch'] => {
  const emails = splitList(draft.emails)
  const { description, armAName, armBName, newMonitorGroupName, monitorGroupId, expectedArmAPercent } = draft
  return {
    name: draft.name.trim(),
    agentId: draft.agentId ?? '',
    armAVersionId: draft.armAVersionId ?? '',
    armBVersionId: draft.armBVersionId ?? '',
    outcomeMetricIds: draft.outcomeMetricIds,
    primaryMetricId: draft.primaryMetricId,
    stableRoutingConfirmed: draft.stableRoutingConfirmed,
    assignmentUnit: draft.unit === 'metadata' ? { kind: 'metadata', key: draft.unitKey.trim() } : { kind: 'auto' },
    ...(draft.measures.length > 0 && { outcomeMeasures: draft.measures.map(measureOf) }),
    ...(description.trim() !== '' && { description: description.trim() }),
    ...(armAName.trim() !== '' && { armAName: armAName.trim() }),
    ...(armBName.trim() !== '' && { armBName: armBName.trim() }),
    ...(draft.cohortFilters.length > 0 && { cohortFilters: draft.cohortFilters }),
    // If a value isn't a number, the API's error appears at its field.
    ...(expectedArmAPercent.trim() !== '' && { expectedArmAPercent: Number(expectedArmAPercent) }),
    ...(monitorGroupId !== null && { monitorGroupId }),
    ...(monitorGroupId === null &&
      newMonitorGroupName.trim() !== '' && { newMonitorGroupName: newMonitorGroupName.trim() }),
    ...(emails.length > 0 && { notifications: { emails } }),
  }
}
