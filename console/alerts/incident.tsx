import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { type Document, RichText, RichTextField } from '../findings/rich-text.tsx'
import { NotFound } from '../layout/not-found.tsx'
import { Button } from '../ui/button.tsx'
import { Facts, Page, Section } from '../ui/page.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './alerts.module.css'
import { type IncidentWithTimeline, incidentCommentsOptions, incidentOptions, refreshAlerts } from './queries.ts'
import { IncidentStatus, SeverityBadge } from './words.tsx'

const eventNames: Record<IncidentWithTimeline['timeline'][number]['kind'], string> = {
  opened: 'Opened',
  repeated: 'Reminder sent',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
}

const Timeline = ({ timeline }: IncidentWithTimeline) => {
  const { nameOf } = useNames('members')
  return (
    <Section title="Timeline">
      <ol className={styles.timeline}>
        {timeline.map(({ kind, at, userId }) => (
          <li key={`${at} ${kind}`}>
            <Time at={at} /> · {eventNames[kind]}
            {userId && ` by ${nameOf(userId)}`}
          </li>
        ))}
      </ol>
    </Section>
  )
}

const Ways = ({ id, status }: IncidentWithTimeline) => {
  const params = { path: { id } }
  const act = useMutation({
    mutationFn: (verb: 'acknowledge' | 'resolve') =>
      answer(
        verb === 'acknowledge'
          ? api.POST('/v1/alert-incidents/{id}/acknowledge', { params, body: {} })
          : api.POST('/v1/alert-incidents/{id}/resolve', { params, body: {} }),
      ),
    onSuccess: refreshAlerts,
  })
  if (status === 'resolved') return null
  return (
    <div className={styles.stack}>
      <div className={styles.ways}>
        {status === 'firing' && (
          <Button look="primary" busy={act.isPending} onClick={() => act.mutate('acknowledge')}>
            Acknowledge
          </Button>
        )}
        <Button busy={act.isPending} onClick={() => act.mutate('resolve')}>
          Resolve
        </Button>
      </div>
      {act.error && <FaultNote error={act.error} />}
    </div>
  )
}

/** Shows the form for a comment. It is empty again after a comment was sent. */
const Composer = ({ id }: { id: string }) => {
  const [body, setBody] = useState<Document | null>(null)
  const [sent, setSent] = useState(0)
  const send = useMutation({
    mutationFn: (written: Document) =>
      answer(api.POST('/v1/alert-incidents/{id}/comments', { params: { path: { id } }, body: { body: written } })),
    onSuccess: async () => {
      setBody(null)
      setSent(sent + 1)
      await refreshAlerts()
    },
  })
  const submit = () => {
    if (body !== null && !send.isPending) send.mutate(body)
  }
  return (
    <div className={styles.form}>
      <RichTextField key={sent} label="New comment" value={null} onChange={setBody} onSend={submit} mentions />
      {send.error && <FaultNote error={send.error} />}
      <div>
        <Button busy={send.isPending} disabled={body === null} onClick={submit}>
          Comment
        </Button>
      </div>
    </div>
  )
}

const Comments = ({ id, mayWrite }: { id: string; mayWrite: boolean }) => {
  const list = useList(incidentCommentsOptions(id))
  const { nameOf } = useNames('members')
  return (
    <Section title="Comments">
      <div className={styles.stack}>
        {list.error && <FaultNote error={list.error} retry={list.retry} />}
        {list.rows?.map(({ id: commentId, authorUserId, createdAt, body }) => (
          <div key={commentId}>
            <strong>{nameOf(authorUserId)}</strong>{' '}
            <span className={styles.soft}>
              <Time at={createdAt} ago />
            </span>
            <RichText document={body} />
          </div>
        ))}
        {list.more && (
          <div>
            <Button small busy={list.isFetchingMore} onClick={list.more}>
              Show more
            </Button>
          </div>
        )}
        {mayWrite && <Composer id={id} />}
      </div>
    </Section>
  )
}

export const AlertIncident = () => {
  const { id } = useParams({ from: '/app/alerts/incidents/$id' })
  const query = useQuery(incidentOptions(id))
  const mayWrite = useMay('member')
  const { nameOf } = useNames('members')
  if (isNotFound(query.error)) return <NotFound />
  const { ruleName = 'Incident', group } = query.data ?? {}
  return (
    <Page
      title={group ? `${ruleName}: ${group.label ?? group.key}` : ruleName}
      above={<Link to="/alerts">Alerts</Link>}
    >
      <Await query={query}>
        {(incident) => (
          <>
            <div className={styles.stack}>
              <p className={styles.lead}>{incident.text}</p>
              <Facts
                facts={[
                  ['Status', <IncidentStatus key="status" {...incident} />],
                  ['Severity', <SeverityBadge key="severity" {...incident} />],
                  ['Owner', incident.ownerUserId && nameOf(incident.ownerUserId)],
                  ['Opened', <Time key="opened" at={incident.openedAt} />],
                  ['Resolved', incident.resolvedAt && <Time key="resolved" at={incident.resolvedAt} />],
                  [
                    'Rule',
                    <Link key="rule" to="/alerts/rules/$id" params={{ id: incident.alertRuleId }}>
                      {incident.ruleName}
                    </Link>,
                  ],
                ]}
              />
              {mayWrite && <Ways {...incident} />}
            </div>
            {incident.conversationIds.length > 0 && (
              <Section title="First examples">
                <ul className={styles.timeline}>
                  {incident.conversationIds.map((conversationId, index) => (
                    <li key={conversationId}>
                      <Link to="/conversations/$id" params={{ id: conversationId }}>
                        Conversation {index + 1}
                      </Link>
                    </li>
                  ))}
                </ul>
              </Section>
            )}
            <Timeline {...incident} />
          </>
        )}
      </Await>
      <Comments id={id} mayWrite={mayWrite} />
    </Page>
  )
}
