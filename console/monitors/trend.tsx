// Shows a monitor's rate, trend, coverage, and cost.

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useList } from '../api/queries.ts'
import { RangePicker } from '../filters/range-picker.tsx'
import { lastDays, sharedRange, useRange } from '../filters/use-range.ts'
import { withTime } from '../filters/with-time.ts'
import { formatCount, formatMoney, formatNumber, plural } from '../lib/format.ts'
import { BandLine } from '../ui/charts/band-line.tsx'
import { DayBars } from '../ui/charts/day-bars.tsx'
import { Select } from '../ui/controls.tsx'
import { Estimate } from '../ui/estimate.tsx'
import { lazy } from '../ui/lazy.tsx'
import { RenderLater } from '../ui/render-later.tsx'
import { Await } from '../ui/states.tsx'
import { allOf, conversationsOf, costOf, filterOf, rateOf, totalsOf } from './figures.ts'
import styles from './monitor.module.css'
import { agreementOptions, type Monitor, spikesOptions, type Trend, versionsOptions } from './queries.ts'
import { shownDays, trendOptions } from './trend-options.ts'

const OutputFigures = lazy(async () => (await import('./output-figures.tsx')).OutputFigures, null)

const Figure = ({ name, children, note }: { name: string; children: ReactNode; note?: ReactNode }) => (
  <div className={styles.figure}>
    <dt>{name}</dt>
    <dd>{children}</dd>
    {note && <dd className={styles.note}>{note}</dd>}
  </div>
)

const Missing = ({
  id,
  totals,
  within,
}: {
  id: string
  totals: ReturnType<typeof totalsOf>
  within: { since?: string | undefined; until?: string | undefined }
}) => (
  <>
    {totals.unscored > 0 && (
      <Link {...conversationsOf(id, 'unscored', within)}>{plural(totals.unscored, 'unscored', 'unscored')}</Link>
    )}
    {totals.unscored > 0 && totals.failed > 0 && ', '}
    {totals.failed > 0 && (
      <Link from="/monitors/$id" to="." search={(search) => ({ ...search, tab: 'found', result: 'failed' })}>
        {plural(totals.failed, 'failed', 'failed')}
      </Link>
    )}
  </>
)

/** Shows the kappa of the latest version that has reviews. */
const Trust = ({ id }: { id: string }) => {
  const { rows } = useList(agreementOptions(id))
  const rated = rows?.find(({ kappa }) => kappa !== null)
  return (
    <Figure
      name="Agreement with reviewers"
      note={
        <Link from="/monitors/$id" to="." search={(search) => ({ ...search, tab: 'agreement' })} resetScroll={false}>
          {rated ? `Version ${rated.version}, details` : 'How it’s measured'}
        </Link>
      }
    >
      {rated?.kappa ? (
        <span className={styles.soft}>
          <strong>κ {formatNumber(Number(rated.kappa.value.toFixed(2)))}</strong> · {rated.kappa.low.toFixed(2)}–
          {rated.kappa.high.toFixed(2)} · n = {Object.values(rated.matrix).reduce((sum, count) => sum + count, 0)}
        </span>
      ) : (
        <span className={styles.soft}>No judgments yet</span>
      )}
    </Figure>
  )
}

const Cost = ({ days }: { days: Trend['data'] }) => {
  const cost = costOf(days)
  const answers = allOf(totalsOf(days))
  if (cost === null || answers === 0) {
    return (
      <Figure name="Cost">
        <span className={styles.soft}>Model price unknown</span>
      </Figure>
    )
  }
  return (
    <Figure name="Cost" note={`${formatMoney(cost / answers)} per conversation`}>
      {formatMoney(cost)}
    </Figure>
  )
}

const Figures = ({ monitor: { id, kind }, trend: { data, corrected } }: { monitor: Monitor; trend: Trend }) => {
  const totals = totalsOf(data)
  const within = { since: data[0]?.start, until: data.at(-1)?.end }
  return (
    <dl className={styles.figures}>
      <Figure
        name="Affected"
        note={
          totals.affected > 0 ? (
            <Link {...conversationsOf(id, 'affected', within)}>{plural(totals.affected, 'conversation')}</Link>
          ) : (
            'of scored conversations'
          )
        }
      >
        <Estimate {...rateOf(totals)} />
      </Figure>
      {corrected && (
        <Figure
          name="Corrected by reviews"
          note={`based on ${plural(corrected.reviewed, 'reviewed conversation')} (${formatNumber(corrected.shareReviewed * 100)}%)`}
        >
          <Estimate rate={corrected.rate} low={corrected.low} high={corrected.high} n={corrected.reviewed} />
        </Figure>
      )}
      <Figure
        name="Scored"
        note={
          totals.unscored + totals.failed > 0 ? <Missing id={id} totals={totals} within={within} /> : 'None missing'
        }
      >
        {formatCount(totals.affected + totals.notAffected)} of {formatCount(allOf(totals))}
      </Figure>
      <Trust id={id} />
      {kind === 'judge' && <Cost days={data} />}
    </dl>
  )
}

const Charts = ({ monitor: { id }, trend: { data, interval } }: { monitor: Monitor; trend: Trend }) => {
  const spikes = useQuery(spikesOptions(id))
  const versions = useList(versionsOptions(id))
  return (
    <div className={styles.charts}>
      <BandLine
        title={`Affected rate by ${interval}, with 95% confidence interval`}
        point={interval}
        valueName="Affected"
        height={220}
        points={data.map(({ start, end, affectedRate, low, high, affected, notAffected }) => ({
          start,
          end,
          value: affectedRate,
          low,
          high,
          n: affected + notAffected,
          ...(affected > 0 && { link: conversationsOf(id, 'affected', { since: start, until: end }) }),
        }))}
        verticals={
          versions.rows
            ?.filter(({ number }) => number > 1)
            .map(({ number, createdAt }) => ({ at: createdAt, label: `v${number}` })) ?? []
        }
        spikes={
          spikes.data?.data.map((finding) => ({
            id: finding.id,
            at: finding.createdAt,
            label: `Spike: ${finding.title}`,
            link: { to: '/findings/$id', params: { id: finding.id } },
          })) ?? []
        }
      />
      <DayBars
        title={`Results by ${interval}`}
        point={interval}
        height={140}
        days={data.map(({ start, end, affected, notAffected, unscored, failed }) => ({
          start,
          end,
          counts: { affected, clear: notAffected, unscored, failed },
          link: { to: '/conversations', search: { filter: filterOf(id, 'all', { since: start, until: end }) } },
        }))}
      />
    </div>
  )
}

export const TrendSection = ({ monitor }: { monitor: Monitor }) => {
  const search = useSearch({ from: '/app/monitors/$id' })
  const { version } = search
  const navigate = useNavigate({ from: '/monitors/$id' })
  const range = useRange({
    page: sharedRange,
    search,
    defaults: { time: lastDays(shownDays) },
    navigate: ({ time }) =>
      void navigate({
        search: (before) => withTime(before, time),
        replace: true,
        resetScroll: false,
      }),
  })
  const query = useQuery({
    ...trendOptions(monitor.id, { time: range.time, version }),
    placeholderData: (before) => before,
  })
  const { rows: versions = [] } = useList(versionsOptions(monitor.id))
  return (
    <section aria-label="Trend">
      <div className={styles.controls}>
        <RangePicker time={range.time} timezone={range.timezone} onChange={range.choose} />
        {versions.length > 1 && (
          <div className={styles.version}>
            <Select
              aria-label="Version"
              value={String(version ?? '')}
              options={[
                { value: '', label: 'Latest result per conversation' },
                ...versions.map(({ number }) => ({ value: String(number), label: `Version ${number} only` })),
              ]}
              onChange={({ target }) =>
                void navigate({
                  search: ({ version: _, ...rest }) =>
                    target.value === '' ? rest : { ...rest, version: Number(target.value) },
                  replace: true,
                  resetScroll: false,
                })
              }
            />
          </div>
        )}
      </div>
      <div className={query.isPending ? styles.pending : undefined}>
        <Await query={query} lines={8}>
          {(trend) => (
            <>
              <Figures monitor={monitor} trend={trend} />
              {allOf(totalsOf(trend.data)) === 0 ? (
                <p className={styles.soft}>
                  {version === undefined ? 'No results' : `No results from version ${version}`} in this period.
                </p>
              ) : (
                <Charts monitor={monitor} trend={trend} />
              )}
            </>
          )}
        </Await>
      </div>
      {monitor.kind !== 'scorecard' && (
        <RenderLater>
          <OutputFigures monitor={monitor} time={range.time} />
        </RenderLater>
      )}
    </section>
  )
}
