import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Select } from '../ui/controls.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Time } from '../ui/time.tsx'
import styles from './alerts.module.css'
import { conditionWords } from './draft.ts'
import { type Incident, incidentsOptions, type Rule, rulesOptions } from './queries.ts'
import { IncidentStatus, RuleState, SeverityBadge } from './words.tsx'

export const incidentColumns: Column<Incident>[] = [
  {
    key: 'name',
    label: 'Incident',
    cell: ({ id, ruleName, group }) => (
      <Link to="/alerts/incidents/$id" params={{ id }}>
        {ruleName}
        {group && `: ${group.label ?? group.key}`}
      </Link>
    ),
  },
  { key: 'status', label: 'Status', cell: (incident) => <IncidentStatus {...incident} /> },
  { key: 'severity', label: 'Severity', from: 720, cell: (incident) => <SeverityBadge {...incident} /> },
  { key: 'text', label: 'Reason', from: 960, cell: ({ text }) => text },
  { key: 'opened', label: 'Opened', from: 480, cell: ({ openedAt }) => <Time at={openedAt} ago /> },
]

const statusOptions = [
  { value: '', label: 'All' },
  { value: 'firing', label: 'Firing' },
  { value: 'acknowledged', label: 'Acknowledged' },
  { value: 'resolved', label: 'Resolved' },
]

const Incidents = () => {
  const { status } = useSearch({ from: '/app/alerts' })
  const navigate = useNavigate({ from: '/alerts' })
  const list = useList(incidentsOptions(status))
  return (
    <div className={styles.stack}>
      <div className={styles.status}>
        <Select
          aria-label="Status"
          value={status ?? ''}
          options={statusOptions}
          onChange={({ target }) =>
            void navigate({ search: target.value ? { status: target.value as Incident['status'] } : {}, replace: true })
          }
        />
      </div>
      <ListTable
        list={list}
        label="Incidents"
        columns={incidentColumns}
        empty={
          <Empty title={status ? 'No incidents with this status' : 'No incidents yet'}>
            {!status && <p>An incident opens when the condition of an alert rule is met.</p>}
          </Empty>
        }
      />
    </div>
  )
}

const Rules = () => {
  const list = useList(rulesOptions)
  const { nameOf } = useNames('monitors')
  const columns: Column<Rule>[] = [
    {
      key: 'name',
      label: 'Rule',
      cell: ({ id, name }) => (
        <Link to="/alerts/rules/$id" params={{ id }}>
          {name}
        </Link>
      ),
    },
    { key: 'condition', label: 'Condition', from: 720, cell: ({ condition }) => conditionWords(condition, nameOf) },
    { key: 'severity', label: 'Severity', from: 960, cell: (rule) => <SeverityBadge {...rule} /> },
    {
      key: 'destinations',
      label: 'Destinations',
      numeric: true,
      from: 960,
      cell: ({ destinationIds }) => destinationIds.length,
    },
    { key: 'state', label: 'Status', cell: (rule) => <RuleState {...rule} /> },
  ]
  return (
    <ListTable
      list={list}
      label="Alert rules"
      columns={columns}
      empty={
        <Empty title="No rules yet">
          <p>A rule watches a measure, such as a monitor’s rate, and notifies your team when it needs attention.</p>
        </Empty>
      }
    />
  )
}

export const Alerts = () => {
  const { tab = 'incidents' } = useSearch({ from: '/app/alerts' })
  const navigate = useNavigate({ from: '/alerts' })
  const mayWrite = useMay('member')
  return (
    <Page
      title="Alerts"
      context="Alert rules and their incidents"
      actions={
        mayWrite && (
          <ButtonLink look="primary" to="/alerts/rules/new">
            Create rule
          </ButtonLink>
        )
      }
    >
      <Tabs
        label="Alerts"
        value={tab}
        onChange={(value) => void navigate({ search: value === 'rules' ? { tab: 'rules' } : {}, replace: true })}
        tabs={[
          { value: 'incidents', label: 'Incidents', content: <Incidents /> },
          { value: 'rules', label: 'Rules', content: <Rules /> },
        ]}
      />
    </Page>
  )
}
