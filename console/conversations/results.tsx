import { Link } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useNames } from '../api/names.ts'
import { formatClock, formatNumber, plural } from '../lib/format.ts'
import { OutcomeBadge } from '../ui/badge.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Section } from '../ui/page.tsx'
import styles from './aside.module.css'
import type { Result } from './queries.ts'
import { useStage } from './stage.tsx'
import { keepFocus } from './turn-lines.tsx'

const rankOf = ({ status, result }: Result) => {
  if (result === 'affected') return 0
  if (status === 'failed') return 1
  return result === 'not_affected' ? 3 : 2
}

export const inOrder = (results: Result[]): Result[] => results.toSorted((a, b) => rankOf(a) - rankOf(b))

/** Shows a quote that can be played from its turn. */
const Quote = ({ turn, quote }: { turn: number; quote: string }) => {
  const { goTo, startOf } = useStage()
  const start = startOf(turn)
  return (
    <button type="button" onMouseDown={keepFocus} onClick={() => goTo(turn)}>
      <span className={styles.at}>
        <Play aria-hidden="true" /> {start === null ? `turn ${turn + 1}` : formatClock(start)}
      </span>
      {quote && <q>{quote}</q>}
    </button>
  )
}

/** Shows a result's evidence. The evidence for fields is shown with their values. */
const Evidence = ({ result: { evidence, fields } }: { result: Result }) => {
  const own = evidence.filter(({ field }) => field === undefined || !fields || !(field in fields))
  if (own.length === 0) return null
  return (
    <ul className={styles.evidence}>
      {own.map((each) => (
        <li key={`${each.turn} ${each.quote}`}>
          <Quote {...each} />
        </li>
      ))}
    </ul>
  )
}

const ScorecardBreakdown = lazy(async () => (await import('../monitors/scorecards/breakdown.tsx')).ScorecardBreakdown)
const OutputValues = lazy(async () => (await import('../monitors/output-values.tsx')).OutputValues)

/** Shows the items of a scorecard, categories and fields, the reasoning, and evidence. */
export const Grounds = ({ result }: { result: Result }) => (
  <>
    {result.breakdown && (
      <ScorecardBreakdown
        breakdown={result.breakdown}
        quote={(evidence) => (
          <div className={styles.evidence}>
            <Quote {...evidence} />
          </div>
        )}
      />
    )}
    {(result.categories || result.fields) && (
      <OutputValues
        {...result}
        quote={(evidence) => (
          <div className={styles.evidence}>
            <Quote {...evidence} />
          </div>
        )}
      />
    )}
    {result.reasoning && <p className={styles.reasoning}>{result.reasoning}</p>}
    <Evidence result={result} />
  </>
)

export const Results = ({ results }: { results: Result[] }) => {
  const { nameOf } = useNames('monitors')
  const affected = results.filter(({ result }) => result === 'affected').length
  return (
    <Section
      title="Monitors"
      context={results.length > 0 ? `${affected} of ${plural(results.length, 'monitor')} affected` : undefined}
    >
      {results.length === 0 && <p className={styles.none}>No results yet.</p>}
      <ul className={styles.results}>
        {inOrder(results).map((result) => (
          <li key={result.monitorId} className={styles.result}>
            <div className={styles.line}>
              <Link to="/monitors/$id" params={{ id: result.monitorId }} search={{}}>
                {nameOf(result.monitorId)}
              </Link>
              <span className={styles.small}>
                v{result.monitorVersion}
                {result.score !== null && ` · score ${formatNumber(result.score)}`}
              </span>
              <OutcomeBadge {...result} />
            </div>
            <Grounds result={result} />
          </li>
        ))}
      </ul>
    </Section>
  )
}
