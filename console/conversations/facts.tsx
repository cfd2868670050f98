import { Link } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { formatDuration, formatNumber, sentenceCase } from '../lib/format.ts'
import { Copy } from '../ui/copy.tsx'
import { Facts, Section } from '../ui/page.tsx'
import { FaultNote } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './aside.module.css'
import { metricsOptions } from './queries.ts'
import type { Filter } from './search.ts'

type Conversation = Schemas['Conversation']

const Others = ({ filter, children }: { filter: Filter; children: string }) => (
  <Link to="/conversations" search={{ filter }}>
    {children}
  </Link>
)

const shown = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? formatNumber(value) : JSON.stringify(value)

/** Shows metrics from the customer's own systems. */
export const MetricsPart = ({ id }: { id: string }) => {
  const { rows = [], error, retry } = useList(metricsOptions(id))
  if (rows.length === 0 && !error) return null
  return (
    <Section title="Customer metrics">
      {error && <FaultNote error={error} retry={retry} />}
      <Facts
        facts={rows.map(({ key, value, comment }) => [
          key,
          <span key={key} className={styles.value}>
            {shown(value)} {comment && <span className={styles.small}>{comment}</span>}
          </span>,
        ])}
      />
    </Section>
  )
}

/** Links text and numbers in metadata to conversations with the same value. */
const MetadataValue = ({ name, value }: { name: string; value: unknown }) => {
  if (!['string', 'number', 'boolean'].includes(typeof value) || String(value).length > 500) {
    return <code className={styles.value}>{JSON.stringify(value)}</code>
  }
  return <Others filter={{ metadata: [{ key: name, op: 'eq', value: String(value) }] }}>{String(value)}</Others>
}

export const FactsPart = ({ conversation }: { conversation: Conversation }) => {
  const agents = useNames('agents')
  const companies = useNames('companies')
  const { agentId, companyId, customerId, externalId, metadata, id } = conversation
  const entries = Object.entries(metadata)
  return (
    <>
      <Section title="Details">
        <Facts
          facts={[
            [
              'Agent',
              <Link key="agent" to="/agents/$id" params={{ id: agentId }}>
                {agents.nameOf(agentId)}
              </Link>,
            ],
            [
              'Company',
              companyId && (
                <Link to="/companies/$id" params={{ id: companyId }}>
                  {companies.nameOf(companyId)}
                </Link>
              ),
            ],
            ['Customer', customerId && <Others filter={{ customerId }}>{customerId}</Others>],
            ['Channel', [sentenceCase(conversation.channel), conversation.direction].filter(Boolean).join(', ')],
            ['Started', <Time key="started" at={conversation.startedAt} />],
            ['Duration', conversation.durationSeconds === null ? null : formatDuration(conversation.durationSeconds)],
            ['Status', sentenceCase(conversation.status)],
            ['End reason', conversation.endReason],
            ['ID', <Id key="id">{id}</Id>],
            ['External ID', externalId && <Id>{externalId}</Id>],
            ['Received', <Time key="created" at={conversation.createdAt} />],
          ]}
        />
      </Section>
      {entries.length > 0 && (
        <Section title="Metadata">
          <Facts
            facts={entries.map(([name, value]) => [name, <MetadataValue key={name} name={name} value={value} />])}
          />
        </Section>
      )}
    </>
  )
}

const Id = ({ children }: { children: string }) => (
  <span className={styles.line}>
    <code className={styles.value}>{children}</code>
    <Copy text={children} label="Copy ID" />
  </span>
)
