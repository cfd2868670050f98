import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import type { Schemas } from '../api/schema.d.ts'
import { Estimate } from '../ui/estimate.tsx'
import { Kappa } from '../ui/kappa.tsx'
import { Section } from '../ui/page.tsx'
import { FaultNote } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import styles from './progress.module.css'
import type { Bucket } from './queries.ts'

type Agreement = Schemas['MonitorAgreement']
type Row = { monitorId: string; newest: Agreement }
type Pair = Agreement['betweenPeople']['pairs'][number] & { monitorId: string; version: number }
type Interval = { value: number; low: number | null; high: number | null } | null

const Share = ({ of, n }: { of: Interval; n: number }) =>
  of ? <Estimate rate={of.value} low={of.low} high={of.high} n={n} /> : <span className={styles.soft}>–</span>

const comparedOf = ({ matrix }: Agreement) => Object.values(matrix).reduce((sum, count) => sum + count, 0)

const newestOf = async (monitorId: string, signal: AbortSignal): Promise<Row | null> => {
  const { data } = await answer(
    api.GET('/v1/monitors/{id}/agreement', { params: { path: { id: monitorId }, query: { limit: 1 } }, signal }),
  )
  const [newest] = data
  return newest ? { monitorId, newest } : null
}

/** Shows how much reviewers agree with each other, and with the bucket's monitors. */
export const AgreementPart = ({ bucket: { monitorIds } }: { bucket: Bucket }) => {
  const monitors = useNames('monitors')
  const people = useNames('members')
  const answers = useQueries({
    queries: monitorIds.map((id) => ({
      queryKey: ['monitors', id, 'agreement', 'newest'],
      queryFn: ({ signal }: { signal: AbortSignal }) => newestOf(id, signal),
    })),
  })
  if (monitorIds.length === 0) return null
  const rows = answers.flatMap(({ data }) => (data && data.newest.judgments > 0 ? [data] : []))
  const pairs: Pair[] = rows.flatMap(({ monitorId, newest: { version, betweenPeople } }) =>
    betweenPeople.pairs.map((pair) => ({ ...pair, monitorId, version })),
  )
  const fault = answers.find(({ error }) => error)?.error
  const monitor = (monitorId: string) => (
    <Link to="/monitors/$id" params={{ id: monitorId }} search={{ tab: 'agreement' }}>
      {monitors.nameOf(monitorId)}
    </Link>
  )
  const columns: Column<Row>[] = [
    { key: 'monitor', label: 'Monitor', cell: ({ monitorId }) => monitor(monitorId) },
    { key: 'version', label: 'Version', from: 720, numeric: true, cell: ({ newest }) => newest.version },
    {
      key: 'same',
      label: 'Accuracy',
      cell: ({ newest }) => <Share of={newest.agreement} n={comparedOf(newest)} />,
    },
    {
      key: 'kappa',
      label: 'κ with the monitor',
      from: 720 as const,
      cell: ({ newest }) => <Kappa of={newest.kappa} n={comparedOf(newest)} />,
    },
    {
      key: 'alpha',
      label: 'α between reviewers',
      from: 960 as const,
      cell: ({ newest: { betweenPeople } }) => (
        <Kappa
          of={betweenPeople.krippendorffsAlpha}
          n={betweenPeople.krippendorffsAlpha?.conversations ?? betweenPeople.conversations}
        />
      ),
    },
  ]
  const pairColumns: Column<Pair>[] = [
    {
      key: 'people',
      label: 'Reviewers',
      cell: ({ reviewerUserIds }) => reviewerUserIds.map(people.nameOf).join(' and '),
    },
    { key: 'monitor', label: 'Monitor', from: 480, cell: ({ monitorId }) => monitor(monitorId) },
    {
      key: 'same',
      label: 'Agreement',
      cell: ({ agreement, conversations }) => <Share of={agreement} n={conversations} />,
    },
    { key: 'kappa', label: 'κ', from: 720, cell: ({ kappa, conversations }) => <Kappa of={kappa} n={conversations} /> },
  ]
  return (
    <Section title="Agreement" context="Based on all completed reviews of these monitors, in any bucket">
      {fault && <FaultNote error={fault} />}
      {rows.length === 0 && !fault && <p className={styles.soft}>No judgments of these monitors yet.</p>}
      <div className={styles.progress}>
        {rows.length > 0 && (
          <Table
            label="Agreement with the monitors"
            columns={columns}
            rows={rows}
            idOf={({ monitorId }) => monitorId}
          />
        )}
        {pairs.length > 0 && (
          <Table
            label="Agreement between reviewers"
            columns={pairColumns}
            rows={pairs}
            idOf={({ monitorId, version, reviewerUserIds }) => [monitorId, version, ...reviewerUserIds].join(' ')}
          />
        )}
      </div>
    </Section>
  )
}
