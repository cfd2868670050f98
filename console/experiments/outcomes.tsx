import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useRef } from 'react'
import { formatCount } from '../lib/format.ts'
import { IntervalBar, intervalDomain } from '../ui/charts/interval-plot.tsx'
import { Section } from '../ui/page.tsx'
import { useWidth } from '../ui/use-width.ts'
import { formatDifference, formatInterval, formatLevel, isShare, reasons } from './figures.ts'
import { OutcomeDetail } from './outcome-detail.tsx'
import styles from './outcomes.module.css'
import {
  type Arm,
  type Experiment,
  filterOfArm,
  type Outcome,
  outcomeKey,
  outcomeName,
  selectOutcome,
} from './queries.ts'

const endsOf = ({ difference: { estimate, fixed, anytime } }: Outcome) => ({
  value: estimate,
  low: fixed.interval?.low ?? null,
  high: fixed.interval?.high ?? null,
  validLow: anytime.interval?.low ?? null,
  validHigh: anytime.interval?.high ?? null,
})

/** Shows an arm's value and sample size, linked to its conversations. */
const Level = ({ experiment, outcome, arm }: { experiment: Experiment; outcome: Outcome; arm: Arm }) => {
  const { mean, observed } = outcome.arms[arm]
  const counted = selectOutcome(outcome, isShare(outcome) ? 'affected' : 'all')
  return (
    <span className={styles.level}>
      <span className={styles.arm} aria-hidden="true">
        {arm.toUpperCase()}
      </span>
      <Link to="/conversations" search={{ filter: filterOfArm(experiment, arm, counted) }}>
        {formatLevel(outcome, mean)}
      </Link>
      <span className={styles.n}>n = {formatCount(observed)}</span>
    </span>
  )
}

const OutcomeRow = ({
  experiment,
  outcome,
  domain,
}: {
  experiment: Experiment
  outcome: Outcome
  domain: [number, number]
}) => {
  const { outcome: open } = useSearch({ from: '/app/experiments/$id' })
  const navigate = useNavigate({ from: '/experiments/$id' })
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const key = outcomeKey(outcome)
  const isOpen = open === key
  const { anytime, estimate } = outcome.difference
  const toggle = () => void navigate({ search: isOpen ? {} : { outcome: key }, replace: true, resetScroll: false })
  return (
    <li className={outcome.primary ? `${styles.outcome} ${styles.primary}` : styles.outcome}>
      <div className={styles.row}>
        <h3 className={styles.name}>
          <button type="button" aria-expanded={isOpen} onClick={toggle}>
            {isOpen ? <ChevronDown aria-hidden="true" /> : <ChevronRight aria-hidden="true" />}
            {outcomeName(outcome)}
          </button>
        </h3>
        <div className={styles.levels}>
          <Level experiment={experiment} outcome={outcome} arm="a" />
          <Level experiment={experiment} outcome={outcome} arm="b" />
        </div>
        <div className={styles.plot} ref={box}>
          {width > 0 && (
            <IntervalBar
              {...endsOf(outcome)}
              label={`Difference (B − A): ${formatDifference(outcome, estimate)}, always-valid interval ${formatInterval(outcome, anytime.interval)}`}
              domain={domain}
              width={width}
              height={outcome.primary ? 44 : 34}
              highlight={outcome.primary}
            />
          )}
        </div>
        <div className={styles.difference}>
          <strong>{formatDifference(outcome, estimate)}</strong>
          <span>{formatInterval(outcome, anytime.interval)}</span>
        </div>
      </div>
      <p className={styles.verdict}>
        {anytime.interval === null && anytime.reason ? reasons[anytime.reason] : outcome.verdict.text}
      </p>
      {isOpen && <OutcomeDetail experiment={experiment} outcome={outcome} />}
    </li>
  )
}

/** Shows one row per outcome, the primary one first. Rates share one scale, and each score has its own. */
export const Outcomes = ({ experiment }: { experiment: Experiment }) => {
  const { outcomes } = experiment
  const [primary, others] = [
    outcomes.filter((outcome) => outcome.primary),
    outcomes.filter((outcome) => !outcome.primary),
  ]
  const shares = intervalDomain(outcomes.filter(isShare).map(endsOf))
  const domainOf = (outcome: Outcome) => (isShare(outcome) ? shares : intervalDomain([endsOf(outcome)]))
  const list = (rows: Outcome[]) => (
    <ul className={styles.outcomes}>
      {rows.map((outcome) => (
        <OutcomeRow key={outcomeKey(outcome)} experiment={experiment} outcome={outcome} domain={domainOf(outcome)} />
      ))}
    </ul>
  )
  return (
    <>
      <Section
        title="Primary outcome"
        context="Difference (B − A). Thick bar: valid at any time. Thin line: valid only at a planned end date."
      >
        {list(primary)}
      </Section>
      {others.length > 0 && (
        <Section
          title="Other outcomes"
          context={`With ${others.length} outcomes, one can differ by chance. Open an outcome for its corrected result.`}
        >
          {list(others)}
        </Section>
      )}
    </>
  )
}
