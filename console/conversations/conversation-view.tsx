import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { formatDuration } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Section } from '../ui/page.tsx'
import { RenderLater } from '../ui/render-later.tsx'
import { Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './aside.module.css'
import { FindingsPart, Refused, ReviewsPart } from './attached.tsx'
import { FactsPart, MetricsPart } from './facts.tsx'
import { conversationOptions, type Result, resultsOptions } from './queries.ts'
import { Results } from './results.tsx'
import { SignalsPart } from './signals.tsx'
import { Stage } from './stage.tsx'
import { TagsPart } from './tags.tsx'
import type { Position } from './use-position.ts'

type Conversation = Schemas['Conversation']
type ResultList = ReturnType<typeof useList<Result>>

const MonitorsPart = ({ found }: { found: ResultList }) => {
  if (found.rows) return <Results results={found.rows} />
  return (
    <Section title="Monitors">
      {found.error ? <Refused error={found.error} retry={found.retry} /> : <Loading />}
    </Section>
  )
}

const none: Result[] = []

const SoundPart = lazy(async () => (await import('./sound.tsx')).SoundPart)

const About = ({ conversation, found }: { conversation: Conversation; found: ResultList }) => (
  <>
    <MonitorsPart found={found} />
    <RenderLater>
      <TagsPart id={conversation.id} />
      <FindingsPart conversation={conversation} />
      <ReviewsPart id={conversation.id} results={found.rows ?? none} />
      <MetricsPart id={conversation.id} />
      <SignalsPart signals={conversation.signals} />
      {conversation.recording?.status === 'stored' && <SoundPart id={conversation.id} />}
      <FactsPart conversation={conversation} />
    </RenderLater>
  </>
)

/** Shows the head of the panel next to a list: the agent, the customer, and any problems. */
const Strip = ({ conversation, results }: { conversation: Conversation; results: Result[] }) => {
  const agents = useNames('agents')
  const monitors = useNames('monitors')
  const { agentId, startedAt, durationSeconds, customerId } = conversation
  const lasted = durationSeconds === null ? [] : [formatDuration(durationSeconds)]
  return (
    <div className={styles.strip}>
      <h2>
        {agents.nameOf(agentId)}
        {customerId && ` with ${customerId}`}
      </h2>
      <span className={styles.small}>
        <Time at={startedAt} />
        {lasted.map((text) => ` · ${text}`)}
      </span>
      {results
        .filter(({ result }) => result === 'affected')
        .map(({ monitorId }) => (
          <Badge key={monitorId} tone="affected">
            {monitors.nameOf(monitorId)}
          </Badge>
        ))}
    </div>
  )
}

type ConversationViewProps = {
  id: string
  place: Position
  onPlace: (place: Position) => void
  /** Rendered in a panel next to a list. */
  narrow?: boolean
}

/** Shows a complete conversation. */
export const ConversationView = ({ id, place, onPlace, narrow = false }: ConversationViewProps) => {
  const { data: conversation } = useQuery(conversationOptions(id))
  const found = useList(resultsOptions(id))
  const aside: ReactNode = conversation && <About conversation={conversation} found={found} />
  return (
    <Stage
      id={id}
      place={place}
      onPlace={onPlace}
      narrow={narrow}
      aside={aside}
      results={found.rows ?? none}
      head={narrow && conversation && <Strip conversation={conversation} results={found.rows ?? none} />}
      asideLabel="About this conversation"
    />
  )
}
