import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { lastDays } from '../filters/use-range.ts'
import { formatMoney, plural } from '../lib/format.ts'
import { organizationOptions } from '../settings/queries.ts'
import { Badge } from '../ui/badge.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { Sparkline } from '../ui/charts/sparkline.tsx'
import { Code } from '../ui/copy.tsx'
import { Estimate } from '../ui/estimate.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { allOf, conversationsOf, costOf, rateOf, totalsOf } from './figures.ts'
import styles from './monitors.module.css'
import { type Monitor, monitorsOptions } from './queries.ts'
import { kindNames } from './search.ts'
import { trendOptions } from './trend-options.ts'

const days = 30

const useTrend = (id: string) => useQuery(trendOptions(id, { time: lastDays(days) }))

const RateSparkline = ({ monitor: { id, name } }: { monitor: Monitor }) => {
  const { data } = useTrend(id)
  if (!data) return <span className={styles.spark} />
  const points = data.data.map(({ affectedRate, low, high }) => ({ value: affectedRate, low, high }))
  return <Sparkline label={`Affected rate of ${name} by day, last ${days} days`} points={points} />
}

const Rate = ({ monitor: { id } }: { monitor: Monitor }) => {
  const { data, error } = useTrend(id)
  if (error) return <span className={styles.soft}>The trend couldn’t be loaded.</span>
  if (!data) return null
  const totals = totalsOf(data.data)
  const estimate = <Estimate {...rateOf(totals)} />
  return totals.affected > 0 ? (
    <Link className={styles.number} {...conversationsOf(id, 'affected', { since: data.data[0]?.start })}>
      {estimate}
    </Link>
  ) : (
    estimate
  )
}

/** Shows an LLM judge's cost in this period. Rules are free. */
const Cost = ({ monitor: { id, kind } }: { monitor: Monitor }) => {
  const { data } = useTrend(id)
  const cost = kind === 'judge' && data ? costOf(data.data) : null
  return cost === null ? <span className={styles.soft}>–</span> : formatMoney(cost)
}

const Coverage = ({ monitor: { id } }: { monitor: Monitor }) => {
  const { data } = useTrend(id)
  if (!data) return null
  const totals = totalsOf(data.data)
  if (allOf(totals) === 0) return <span className={styles.soft}>No results yet</span>
  if (totals.unscored + totals.failed === 0) return <span className={styles.soft}>All scored</span>
  return (
    <>
      {totals.unscored > 0 && (
        <Link {...conversationsOf(id, 'unscored', { since: data.data[0]?.start })}>
          {plural(totals.unscored, 'unscored', 'unscored')}
        </Link>
      )}
      {totals.unscored > 0 && totals.failed > 0 && ', '}
      {totals.failed > 0 && (
        <Link to="/monitors/$id" params={{ id }} search={{ tab: 'found', result: 'failed' }}>
          {plural(totals.failed, 'failed', 'failed')}
        </Link>
      )}
    </>
  )
}

const columns: Column<Monitor>[] = [
  {
    key: 'name',
    label: 'Monitor',
    cell: ({ id, name, description, enabled }) => (
      <div className={styles.name}>
        <span>
          <Link to="/monitors/$id" params={{ id }}>
            {name}
          </Link>{' '}
          {!enabled && <Badge>Disabled</Badge>}
        </span>
        {description && <span className={styles.description}>{description}</span>}
      </div>
    ),
  },
  { key: 'kind', label: 'Type', from: 720, cell: ({ kind }) => kindNames[kind] },
  { key: 'course', label: `Last ${days} days`, from: 480, cell: (monitor) => <RateSparkline monitor={monitor} /> },
  {
    key: 'rate',
    label: 'Affected · 95% interval · n',
    cell: (monitor) => (
      <div className={styles.rate}>
        <Rate monitor={monitor} />
      </div>
    ),
  },
  {
    key: 'coverage',
    label: 'Coverage',
    from: 960,
    cell: (monitor) => (
      <div className={styles.coverage}>
        <Coverage monitor={monitor} />
      </div>
    ),
  },
  { key: 'cost', label: 'Cost', from: 960, numeric: true, cell: (monitor) => <Cost monitor={monitor} /> },
  {
    key: 'version',
    label: 'Version',
    from: 720 as const,
    cell: ({ currentVersion: { number, createdAt } }) => (
      <span className={styles.version}>
        {number} <span className={styles.soft}>since</span> <Time at={createdAt} />
      </span>
    ),
  },
]

const lines = `curl -sS ${location.origin}/v1/monitors \\
  -H "Authorization: Bearer $EARSHOT_KEY" -H "Content-Type: application/json" \\
  -d '{ "name": "A tool failed", "kind": "rule", "definition": { "expression": "signals.toolFailures > 0" } }'`

const NoMonitors = () => {
  const mayWrite = useMay('member')
  return (
    <Empty
      title="No monitors yet"
      action={
        mayWrite && (
          <>
            <ButtonLink look="primary" to="/monitors/templates">
              Choose a template
            </ButtonLink>
            <ButtonLink to="/monitors/new">Create monitor</ButtonLink>
          </>
        )
      }
    >
      <p>
        A monitor asks one question of every conversation. A rule, an LLM judge, or your own code answers it: affected
        or not affected, with reasoning and evidence.
      </p>
      <Code>{lines}</Code>
    </Empty>
  )
}

/** Shows this month's LLM judge cost, and the budget left if there is one. */
const Spending = () => {
  const { data } = useQuery(organizationOptions)
  const spending = data?.judgeSpending
  if (!spending || spending.judgements === 0) return <>Each monitor asks one question of every conversation</>
  const { cost, judgements, budgetLeft } = spending
  return (
    <>
      LLM judges this month: {plural(judgements, 'result')}
      {cost !== null && `, ${formatMoney(cost)}`}
      {budgetLeft !== null && `, ${formatMoney(budgetLeft)} budget left`}
    </>
  )
}

export const Monitors = () => {
  const list = useList(monitorsOptions)
  const mayWrite = useMay('member')
  return (
    <Page
      title="Monitors"
      context={<Spending />}
      actions={
        <>
          <ButtonLink to="/monitors/templates">Templates</ButtonLink>
          {mayWrite && (
            <ButtonLink look="primary" to="/monitors/new">
              <Plus aria-hidden="true" /> Create monitor
            </ButtonLink>
          )}
        </>
      }
    >
      <ListTable list={list} label="Monitors" columns={columns} lines={8} empty={<NoMonitors />} />
    </Page>
  )
}
