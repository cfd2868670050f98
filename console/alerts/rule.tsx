import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { FilterWords } from '../filters/filter-bar.tsx'
import { NotFound } from '../layout/not-found.tsx'
import { destinationsOptions } from '../settings/queries.ts'
import { announce } from '../ui/announce.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Facts, Page, Section } from '../ui/page.tsx'
import { Await, Empty, FaultNote } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './alerts.module.css'
import { incidentColumns } from './alerts.tsx'
import { conditionWords, hasSample, hasWindow, spanWords } from './draft.ts'
import { incidentsOptions, type Rule, refreshAlerts, ruleOptions } from './queries.ts'
import { RuleState, SeverityBadge } from './words.tsx'

const muteHours = 8

const Ways = ({ rule }: { rule: Rule }) => {
  const { id, name, enabled, state } = rule
  const params = { path: { id } }
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const act = useMutation({
    mutationFn: (change: 'toggle' | 'mute' | 'unmute') => {
      if (change === 'toggle') return answer(api.PATCH('/v1/alert-rules/{id}', { params, body: { enabled: !enabled } }))
      const until = change === 'mute' ? new Date(Date.now() + muteHours * 3_600_000).toISOString() : null
      return answer(api.POST('/v1/alert-rules/{id}/mute', { params, body: { until } }))
    },
    onSuccess: refreshAlerts,
  })
  return (
    <div className={styles.stack}>
      <div className={styles.ways}>
        <ButtonLink to="/alerts/rules/$id/edit" params={{ id }}>
          Edit
        </ButtonLink>
        {state === 'muted' ? (
          <Button busy={act.isPending} onClick={() => act.mutate('unmute')}>
            Unmute
          </Button>
        ) : (
          <Button busy={act.isPending} onClick={() => act.mutate('mute')}>
            Mute for {muteHours} hours
          </Button>
        )}
        <Button look="quiet" busy={act.isPending} onClick={() => act.mutate('toggle')}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
        <Button look="quiet" onClick={() => setDeleting(true)}>
          Delete
        </Button>
      </div>
      {act.error && <FaultNote error={act.error} />}
      <Confirm
        title={`Delete “${name}”?`}
        action="Delete rule"
        open={isDeleting}
        onClose={() => setDeleting(false)}
        run={async () => {
          await api.DELETE('/v1/alert-rules/{id}', { params })
          announce(`“${name}” deleted`)
          await navigate({ to: '/alerts', search: { tab: 'rules' } })
          await refreshAlerts()
        }}
      >
        Open incidents are resolved. Past incidents stay in the list.
      </Confirm>
    </div>
  )
}

const groupNames = { agent: 'Agent', company: 'Company', version: 'Agent version' }

const About = ({ rule }: { rule: Rule }) => {
  const { condition, filter, groupBy, windowMinutes, minimumSample, destinationIds, ownerUserId, mutedUntil } = rule
  const monitors = useNames('monitors')
  const members = useNames('members')
  const destinations = useList(destinationsOptions)
  const nameOf = (id: string) => destinations.rows?.find((row) => row.id === id)?.name ?? id.slice(0, 8)
  return (
    <Facts
      facts={[
        ['Status', <RuleState key="state" {...rule} />],
        ...(mutedUntil ? [['Muted until', <Time key="muted" at={mutedUntil} />] as [string, React.ReactNode]] : []),
        ['Condition', conditionWords(condition, monitors.nameOf)],
        ...(hasWindow(condition.kind) ? [['Window', spanWords(windowMinutes)] as [string, React.ReactNode]] : []),
        ...(hasSample(condition.kind) ? [['Minimum sample', minimumSample] as [string, React.ReactNode]] : []),
        ...(filter ? [['Filter', <FilterWords key="filter" filter={filter} />] as [string, React.ReactNode]] : []),
        ...(groupBy ? [['Group by', groupNames[groupBy]] as [string, React.ReactNode]] : []),
        ['Severity', <SeverityBadge key="severity" {...rule} />],
        ['Destinations', destinationIds.length > 0 ? destinationIds.map(nameOf).join(', ') : null],
        ['Owner', ownerUserId && members.nameOf(ownerUserId)],
        [
          'Runbook',
          rule.runbookUrl && (
            <a key="runbook" href={rule.runbookUrl} rel="noreferrer">
              {rule.runbookUrl}
            </a>
          ),
        ],
      ]}
    />
  )
}

const Incidents = ({ id }: { id: string }) => {
  const list = useList(incidentsOptions(undefined, id))
  return (
    <Section title="Incidents">
      <ListTable
        list={list}
        label="Incidents"
        columns={incidentColumns}
        empty={<Empty title="This rule hasn’t fired yet" />}
      />
    </Section>
  )
}

export const AlertRule = () => {
  const { id } = useParams({ from: '/app/alerts/rules/$id' })
  const query = useQuery(ruleOptions(id))
  const mayWrite = useMay('member')
  if (isNotFound(query.error)) return <NotFound />
  return (
    <Page
      title={query.data?.name ?? 'Alert rule'}
      above={
        <Link to="/alerts" search={{ tab: 'rules' }}>
          Alerts
        </Link>
      }
    >
      <Await query={query}>
        {(rule) => (
          <div className={styles.stack}>
            <About rule={rule} />
            {mayWrite && <Ways rule={rule} />}
          </div>
        )}
      </Await>
      <Incidents id={id} />
    </Page>
  )
}
