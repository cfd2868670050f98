import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { asFault } from '../api/fault.ts'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import { useMay, useMe } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Chooser, ChooserOfOne } from '../ui/chooser.tsx'
import { Area, Check, Choice, Field, Input, Row, Select } from '../ui/controls.tsx'
import { lazy } from '../ui/lazy.tsx'
import { LeaveGuard } from '../ui/leave-guard.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, FaultNote } from '../ui/states.tsx'
import { CohortLines } from './cohort-lines.tsx'
import { bodyOf, type Draft, emptyDraft, missingFields } from './draft.ts'
import styles from './launch.module.css'
import { LaunchChecks } from './launch-checks.tsx'
import { versionsOptions } from './queries.ts'

const MeasureLines = lazy(async () => (await import('./measure-lines.tsx')).MeasureLines)

type FieldsProps = {
  draft: Draft
  change: (part: Partial<Draft>) => void
  faultOf: (path: string) => string | undefined
}

const Versions = ({ draft, change, faultOf }: FieldsProps) => {
  const { data } = useQuery(versionsOptions(draft.agentId))
  const options = (data?.data ?? []).map(({ id, number, label, systemPrompt }) => ({
    value: id,
    label: `${number}${label ? `, ${label}` : ''} · ${systemPrompt.slice(0, 60)}`,
  }))
  const arm = (letter: 'A' | 'B') => {
    const [version, name] =
      letter === 'A' ? (['armAVersionId', 'armAName'] as const) : (['armBVersionId', 'armBName'] as const)
    return (
      <Row>
        <ChooserOfOne
          label={letter === 'A' ? 'Version A (current)' : 'Version B (new)'}
          options={options}
          value={draft[version]}
          onChange={(value) => change({ [version]: value })}
          placeholder="Choose version"
          fault={faultOf(version)}
        />
        <Field label={`Name of ${letter}`} fault={faultOf(name)}>
          {(ids) => (
            <Input
              {...ids}
              maxLength={100}
              placeholder={letter}
              value={draft[name]}
              onChange={({ target }) => change({ [name]: target.value })}
            />
          )}
        </Field>
      </Row>
    )
  }
  return (
    <>
      {arm('A')}
      {arm('B')}
    </>
  )
}

const Outcomes = ({ draft, change, faultOf }: FieldsProps) => {
  const monitors = useNames('monitors')
  const { data: groups } = useQuery({
    queryKey: ['monitor-groups'],
    queryFn: () => answer(api.GET('/v1/experiments/monitor-groups', { params: { query: { limit: 200 } } })),
  })
  const chosen = draft.outcomeMetricIds.map((id) => ({ value: id, label: monitors.nameOf(id) }))
  const set = (ids: string[]) =>
    change({
      outcomeMetricIds: ids,
      monitorGroupId: null,
      measures: draft.measures.filter(({ metricId }) => ids.includes(metricId)),
      primaryMetricId: ids.includes(draft.primaryMetricId) ? draft.primaryMetricId : (ids[0] ?? ''),
    })
  return (
    <>
      {groups !== undefined && groups.data.length > 0 && (
        <Field label="Monitor group">
          {(ids) => (
            <Select
              {...ids}
              value={draft.monitorGroupId ?? ''}
              options={[
                { value: '', label: 'None' },
                ...groups.data.map(({ id, name }) => ({ value: id, label: name })),
              ]}
              onChange={({ target }) => {
                const group = groups.data.find(({ id }) => id === target.value)
                set(group?.metricIds ?? draft.outcomeMetricIds)
                change({
                  monitorGroupId: group?.id ?? null,
                  ...(group && {
                    outcomeMetricIds: group.metricIds,
                    primaryMetricId: group.metricIds[0] ?? '',
                    measures: [],
                  }),
                })
              }}
            />
          )}
        </Field>
      )}
      <Chooser
        label="Outcomes"
        hint="Up to 20 enabled monitors. The experiment uses their current versions."
        options={monitors.options}
        value={draft.outcomeMetricIds}
        onChange={set}
        placeholder="Add monitor"
        fault={faultOf('outcomeMetricIds')}
      />
      {chosen.length > 0 && (
        <MeasureLines
          monitorIds={draft.outcomeMetricIds}
          measures={draft.measures}
          onChange={(measures) => change({ measures })}
          fault={faultOf('outcomeMeasures')}
        />
      )}
      {chosen.length > 0 && (
        <Row>
          <Field label="Primary outcome" hint="The main measure of success." fault={faultOf('primaryMetricId')}>
            {(ids) => (
              <Select
                {...ids}
                value={draft.primaryMetricId}
                options={chosen}
                onChange={({ target }) => change({ primaryMetricId: target.value })}
              />
            )}
          </Field>
          {draft.monitorGroupId === null && (
            <Field
              label="Save as group (optional)"
              hint="Name of the new monitor group."
              fault={faultOf('newMonitorGroupName')}
            >
              {(ids) => (
                <Input
                  {...ids}
                  maxLength={255}
                  value={draft.newMonitorGroupName}
                  onChange={({ target }) => change({ newMonitorGroupName: target.value })}
                />
              )}
            </Field>
          )}
        </Row>
      )}
    </>
  )
}

const Routing = ({ draft, change, faultOf }: FieldsProps) => (
  <>
    <Row>
      <Field
        label="Expected traffic to A (%)"
        hint="If empty, Earshot doesn’t test the split."
        fault={faultOf('expectedArmAPercent')}
      >
        {(ids) => (
          <Input
            {...ids}
            inputMode="numeric"
            value={draft.expectedArmAPercent}
            onChange={({ target }) => change({ expectedArmAPercent: target.value })}
          />
        )}
      </Field>
      <Choice
        label="Caller identity"
        value={draft.unit}
        options={[
          { value: 'auto', label: 'Customer ID' },
          { value: 'metadata', label: 'Metadata key' },
        ]}
        onChange={(unit) => change({ unit: unit === 'metadata' ? 'metadata' : 'auto' })}
      />
      {draft.unit === 'metadata' && (
        <Field label="Key" fault={faultOf('assignmentUnit.key')}>
          {(ids) => (
            <Input
              {...ids}
              maxLength={120}
              value={draft.unitKey}
              onChange={({ target }) => change({ unitKey: target.value })}
            />
          )}
        </Field>
      )}
    </Row>
    <CohortLines
      filters={draft.cohortFilters}
      onChange={(cohortFilters) => change({ cohortFilters })}
      fault={faultOf('cohortFilters')}
    />
    <Field
      label="Notify by email"
      hint="At launch, if routing goes wrong, and at the end. Separate addresses with commas."
      fault={faultOf('notifications.emails')}
    >
      {(ids) => <Input {...ids} value={draft.emails} onChange={({ target }) => change({ emails: target.value })} />}
    </Field>
    <Check
      label="Callers always get the same variant."
      hint="You route the traffic. Callers who see both variants can bias the result."
      checked={draft.stableRoutingConfirmed}
      onChange={({ target }) => change({ stableRoutingConfirmed: target.checked })}
    />
  </>
)

export const Launch = () => {
  const navigate = useNavigate()
  const mayLaunch = useMay('admin')
  const { features, entitlements } = useMe()
  const agents = useNames('agents')
  const monitors = useNames('monitors')
  const [draft, setDraft] = useState<Draft>(emptyDraft)
  const isLaunched = useRef(false)
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const launch = useMutation({
    mutationFn: () => answer(api.POST('/v1/experiments', { body: bodyOf(draft) })),
    onSuccess: async ({ id }) => {
      isLaunched.current = true
      await queryClient.invalidateQueries({ queryKey: ['experiments'] })
      await navigate({ to: '/experiments/$id', params: { id }, search: {} })
    },
  })
  const unnamed = [agents, monitors].find(({ error }) => error)
  const issues = launch.error ? asFault(launch.error).issues : []
  const faultOf = (path: string) =>
    issues.find((issue) => issue.path === path || ['.', '['].some((next) => issue.path.startsWith(path + next)))
      ?.message
  const above = <Link to="/experiments">Experiments</Link>
  if (!mayLaunch || !features.experimentsV2 || !entitlements.observability) {
    return (
      <Page title="Launch experiment" above={above}>
        <Empty title="You can’t launch experiments">
          <p>
            {mayLaunch
              ? 'Experiments aren’t enabled for your organization. Ask your operator to enable them.'
              : 'Only admins can launch experiments. Ask an admin of your organization.'}
          </p>
        </Empty>
      </Page>
    )
  }
  const part = { draft, change, faultOf }
  return (
    <Page title="Launch experiment" above={above}>
      <div className={styles.columns}>
        <form
          className={styles.form}
          aria-label="Launch experiment"
          onSubmit={(event) => {
            event.preventDefault()
            if (missingFields(draft).length === 0 && !launch.isPending) launch.mutate()
          }}
        >
          {unnamed && <FaultNote error={unnamed.error} retry={unnamed.retry} />}
          <Field label="Name" fault={faultOf('name')}>
            {(ids) => (
              <Input
                {...ids}
                maxLength={255}
                value={draft.name}
                onChange={({ target }) => change({ name: target.value })}
              />
            )}
          </Field>
          <Field label="Hypothesis" fault={faultOf('description')}>
            {(ids) => (
              <Area
                {...ids}
                rows={2}
                maxLength={2000}
                value={draft.description}
                onChange={({ target }) => change({ description: target.value })}
              />
            )}
          </Field>
          <ChooserOfOne
            label="Agent"
            options={agents.options}
            value={draft.agentId}
            onChange={(agentId) => change({ agentId, armAVersionId: null, armBVersionId: null })}
            placeholder="Choose agent"
            fault={faultOf('agentId')}
          />
          {draft.agentId !== null && <Versions {...part} />}
          <Outcomes {...part} />
          <Routing {...part} />
          {launch.error && <FaultNote error={launch.error} />}
          <div>
            <Button type="submit" look="primary" busy={launch.isPending} disabled={missingFields(draft).length > 0}>
              Launch
            </Button>
          </div>
        </form>
        <LaunchChecks draft={draft} />
      </div>
      <LeaveGuard isDirty={() => !isLaunched.current && draft !== emptyDraft} />
    </Page>
  )
}
