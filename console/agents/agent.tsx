import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { useNames } from '../api/names.ts'
import { useMay } from '../api/session.ts'
import { CountLink } from '../filters/count-link.tsx'
import { NotFound } from '../layout/not-found.tsx'
import { plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Facts, Page } from '../ui/page.tsx'
import { Await, FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './agents.module.css'
import {
  type Agent as AgentRecord,
  agentOptions,
  channelNames,
  keepNames,
  redactionNames,
  refreshAgents,
} from './queries.ts'
import { Versions } from './versions.tsx'

const AgentFigures = lazy(async () => (await import('./agent-figures.tsx')).AgentFigures, <Loading lines={10} />)
const AgentDialog = lazy(async () => (await import('./agent-dialog.tsx')).AgentDialog)

const About = ({ agent }: { agent: AgentRecord }) => {
  const companies = useNames('companies')
  const groups = useNames('agentGroups')
  const { id, name, channel, companyId, groupIds, externalId, archivedAt, createdAt } = agent
  const { keep, days, redaction } = agent.recordings
  return (
    <Facts
      facts={[
        ['Conversations', <CountLink key="count" filter={{ agentIds: [id] }} of={name} />],
        ['Channel', channelNames[channel]],
        [
          'Company',
          companyId && (
            <Link to="/companies/$id" params={{ id: companyId }}>
              {companies.nameOf(companyId)}
            </Link>
          ),
        ],
        [
          'Groups',
          groupIds.length > 0 ? (
            <span key="groups" className={styles.groups}>
              {groupIds.map((groupId) => (
                <Link key={groupId} to="/agents" search={{ groupId }}>
                  <Badge>{groups.nameOf(groupId)}</Badge>
                </Link>
              ))}
            </span>
          ) : null,
        ],
        ['External ID', externalId && <code>{externalId}</code>],
        ['Recordings', keep === 'days' ? `Deleted after ${plural(days ?? 0, 'day')}` : keepNames[keep]],
        ...(redaction === null ? [] : [['Recording redaction', redactionNames[redaction]] as [string, string]]),
        ['Created', <Time key="made" at={createdAt} />],
        ...(archivedAt ? [['Archived', <Time key="archived" at={archivedAt} />] as [string, React.ReactNode]] : []),
      ]}
    />
  )
}

export const Agent = () => {
  const { id } = useParams({ from: '/app/agents/$id' })
  const mayWrite = useMay('member')
  const [asking, setAsking] = useState<'edit' | 'archive'>()
  const query = useQuery(agentOptions(id))
  const { data: agent } = query
  const close = () => setAsking(undefined)
  const bringBack = useMutation({
    mutationFn: () => answer(api.PATCH('/v1/agents/{id}', { params: { path: { id } }, body: { archived: false } })),
    onSuccess: refreshAgents,
  })
  if (isNotFound(query.error)) return <NotFound />
  return (
    <Page
      title={agent?.name ?? 'Agent'}
      above={<Link to="/agents">Agents</Link>}
      context={agent?.archivedAt && <Badge>Archived</Badge>}
      actions={
        <>
          {agent && mayWrite && (
            <>
              {agent.archivedAt === null ? (
                <Button look="quiet" onClick={() => setAsking('archive')}>
                  Archive
                </Button>
              ) : (
                <Button busy={bringBack.isPending} onClick={() => bringBack.mutate()}>
                  Unarchive
                </Button>
              )}
              <Button onClick={() => setAsking('edit')}>Edit</Button>
            </>
          )}
          <ButtonLink look="primary" to="/conversations" search={{ filter: { agentIds: [id] } }}>
            View conversations
          </ButtonLink>
        </>
      }
    >
      {bringBack.error && <FaultNote error={bringBack.error} />}
      <Await query={query}>
        {(agent) => (
          <>
            <About agent={agent} />
            <AgentFigures key={id} agentId={id}>
              <Versions agentId={id} />
            </AgentFigures>
            {asking === 'edit' && <AgentDialog agent={agent} onClose={close} />}
            <Confirm
              title={`Archive “${agent.name}”?`}
              action="Archive agent"
              open={asking === 'archive'}
              onClose={close}
              run={async () => {
                await api.DELETE('/v1/agents/{id}', { params: { path: { id } } })
                await refreshAgents()
                announce(`“${agent.name}” archived`)
              }}
            >
              This hides the agent from the list. Its conversations and versions are kept. You can unarchive it later.
            </Confirm>
          </>
        )}
      </Await>
    </Page>
  )
}
