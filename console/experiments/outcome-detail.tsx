import { Link } from '@tanstack/react-router'
import { formatCount, formatNumber, formatPercent } from '../lib/format.ts'
import { BandLine } from '../ui/charts/band-line.tsx'
import { IntervalPlot, type IntervalRow } from '../ui/charts/interval-plot.tsx'
import { formatDifference, formatInterval, formatLevel, formatP, isShare } from './figures.ts'
import styles from './outcome-detail.module.css'
import { type Arm, armName, type Experiment, filterOfArm, type Outcome, outcomeName, selectOutcome } from './queries.ts'

const hourMs = 3_600_000

type Props = { experiment: Experiment; outcome: Outcome }

/** Shows the difference over time, with the always-valid interval. */
const EstimateChart = ({ experiment: { countedAt }, outcome }: Props) => {
  const { timeline } = outcome
  if (timeline.length < 2) {
    return <p className={styles.soft}>The chart appears after the second update.</p>
  }
  // The latest point lasts until the last update, or for at least an hour.
  const endOf = (at: number) =>
    timeline[at + 1]?.at ??
    new Date(Math.max(Date.parse(countedAt), Date.parse(timeline[at]?.at ?? countedAt) + hourMs)).toISOString()
  return (
    <BandLine
      title={`Difference (B − A) in “${outcomeName(outcome)}” over time, with the always-valid interval`}
      valueName="Difference (B − A)"
      tone="accent"
      point="look"
      format={(value) => formatDifference(outcome, value)}
      formatTick={(value) => formatDifference(outcome, value).replace(' points', '')}
      reference={{ value: 0, label: 'no difference' }}
      points={timeline.map((moment, at) => ({
        start: moment.at,
        end: endOf(at),
        value: moment.difference,
        low: moment.interval?.low ?? null,
        high: moment.interval?.high ?? null,
        n: moment.observedA + moment.observedB,
      }))}
    />
  )
}

const Counts = ({ experiment, outcome }: Props) => {
  const result = { observed: 'all', unscored: 'unscored' } as const
  const link = (arm: Arm, count: number, asked: 'all' | 'unscored') => (
    <Link to="/conversations" search={{ filter: filterOfArm(experiment, arm, selectOutcome(outcome, asked)) }}>
      {formatCount(count)}
    </Link>
  )
  const { a, b } = outcome.arms
  const rows: [string, React.ReactNode, React.ReactNode][] = [
    ['Eligible conversations', formatCount(a.conversations), formatCount(b.conversations)],
    ['Observed', link('a', a.observed, result.observed), link('b', b.observed, result.observed)],
    ['Pending', formatCount(a.pending), formatCount(b.pending)],
    ['Missing', link('a', a.missing, result.unscored), link('b', b.missing, result.unscored)],
    ['Failed', formatCount(a.failed), formatCount(b.failed)],
    ['Callers', formatCount(a.units), formatCount(b.units)],
    [
      'Design effect of returning callers',
      `${formatNumber(Math.round(a.designEffect * 100) / 100)} ×`,
      `${formatNumber(Math.round(b.designEffect * 100) / 100)} ×`,
    ],
  ]
  return (
    <table className={styles.counts}>
      <caption>Observations by arm</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">{armName(experiment, 'a')}</th>
          <th scope="col">{armName(experiment, 'b')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, inA, inB]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{inA}</td>
            <td>{inB}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Returns other estimates of the same difference. Missing ones are left out. */
const waysOf = ({ difference, correction, corrected, missingness }: Outcome): IntervalRow[] => {
  const seen = ({ estimate, fixed, anytime }: Outcome['difference']['withoutUnitsInBothArms']) => ({
    value: estimate,
    low: fixed.interval?.low ?? null,
    high: fixed.interval?.high ?? null,
    validLow: anytime.interval?.low ?? null,
    validHigh: anytime.interval?.high ?? null,
  })
  const worst = missingness.worstCase
  return [
    { id: 'all', label: 'As measured', highlight: true, ...seen(difference) },
    { id: 'pure', label: 'Without callers in both arms', ...seen(difference.withoutUnitsInBothArms) },
    ...(correction
      ? [{ id: 'family', label: `Corrected for ${correction.familySize} outcomes`, ...seen(correction.simultaneous) }]
      : []),
    ...(corrected
      ? [
          {
            id: 'reviews',
            label: `Corrected by reviews (${formatPercent(corrected.shareReviewedA)} of A and ${formatPercent(corrected.shareReviewedB)} of B reviewed)`,
            value: corrected.estimate,
            low: corrected.fixed?.low ?? null,
            high: corrected.fixed?.high ?? null,
            validLow: corrected.anytime?.low ?? null,
            validHigh: corrected.anytime?.high ?? null,
          },
        ]
      : []),
    ...(worst && worst.difference.low < worst.difference.high
      ? [
          {
            id: 'worst',
            label: 'Worst case for missing observations',
            value: null,
            validLow: worst.difference.low,
            validHigh: worst.difference.high,
            reading: worst.signSurvives ? 'same direction' : 'direction may change',
          },
        ]
      : []),
  ]
}

export const OutcomeDetail = ({ experiment, outcome }: Props) => {
  const { difference, lift, correction, extremes, monitorVersion, metricId } = outcome
  const facts = [
    `p ${formatP(difference.anytime.p)} (always valid), ${formatP(difference.fixed.p)} (planned end date)`,
    correction?.q != null && `q ${formatP(correction.q)} across ${correction.familySize} outcomes`,
    lift.estimate !== null &&
      `relative to A ${lift.estimate > 0 ? '+' : '−'}${formatPercent(Math.abs(lift.estimate))}${
        lift.anytime ? ` (${formatPercent(lift.anytime.low)} to ${formatPercent(lift.anytime.high)})` : ''
      }`,
    extremes.firstExcludedZeroAt !== null && 'the interval excluded zero earlier',
  ].filter((text) => text !== false)
  return (
    <div className={styles.detail}>
      <IntervalPlot
        title={`Difference (B − A) in “${outcomeName(outcome)}”: other estimates`}
        rows={waysOf(outcome).map((row) => ({
          ...row,
          reading:
            row.reading ??
            formatInterval(
              outcome,
              row.validLow != null && row.validHigh != null ? { low: row.validLow, high: row.validHigh } : null,
            ),
        }))}
        format={(value) => formatDifference(outcome, value).replace(' points', '')}
        sides={isShare(outcome) ? ['less often in B', 'more often in B'] : ['lower in B', 'higher in B']}
      />
      <EstimateChart experiment={experiment} outcome={outcome} />
      <div className={styles.beside}>
        <Counts experiment={experiment} outcome={outcome} />
        <div className={styles.words}>
          <p>
            Measured by{' '}
            <Link to="/monitors/$id" params={{ id: metricId }} search={{ version: monitorVersion }}>
              {outcome.name}, version {monitorVersion}
            </Link>
            , pinned at launch. A {formatLevel(outcome, outcome.arms.a.mean)}, B{' '}
            {formatLevel(outcome, outcome.arms.b.mean)}.
          </p>
          {facts.map((fact) => (
            <p key={fact}>{fact}.</p>
          ))}
        </div>
      </div>
    </div>
  )
}
