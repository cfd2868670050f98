// Shows the sections and items of a scorecard's result.

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useNames } from '../../api/names.ts'
import type { Schemas } from '../../api/schema.d.ts'
import { formatNumber } from '../../lib/format.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import styles from './scorecard.module.css'

type Breakdown = NonNullable<Schemas['MonitorResult']['breakdown']>
type Item = Breakdown['sections'][number]['items'][number]
type Evidence = Item['evidence'][number]

const outcomes: Record<Item['outcome'], { tone: Tone; word: string }> = {
  passed: { tone: 'clear', word: 'Passed' },
  affected: { tone: 'affected', word: 'Affected' },
  not_applicable: { tone: 'plain', word: 'Not applicable' },
  unscored: { tone: 'unscored', word: 'Unscored' },
  missing: { tone: 'plain', word: 'No result' },
}

type ItemRowProps = { item: Item; name: string; hasFailed: boolean; quote: (evidence: Evidence) => ReactNode }

const ItemRow = ({ item, name, hasFailed, quote }: ItemRowProps) => {
  const { monitorId, points, earned, outcome, reasoning, evidence } = item
  const { tone, word } = outcomes[outcome]
  return (
    <li className={styles.item}>
      <div className={styles.line}>
        <Link to="/monitors/$id" params={{ id: monitorId }} search={{}}>
          {name}
        </Link>
        <Badge tone={tone}>{word}</Badge>
        <span className={styles.soft}>
          {formatNumber(earned)} of {formatNumber(points)}
        </span>
        {hasFailed && <Badge tone="failed">Fails the scorecard</Badge>}
      </div>
      {reasoning && <p>{reasoning}</p>}
      {evidence.map((each) => (
        <div key={`${each.turn} ${each.quote}`}>{quote(each)}</div>
      ))}
    </li>
  )
}

type BreakdownProps = {
  breakdown: Breakdown
  /** Shows a quote, usually with a link to its turn. */
  quote: (evidence: Evidence) => ReactNode
}

export const ScorecardBreakdown = ({ breakdown, quote }: BreakdownProps) => {
  const { nameOf } = useNames('monitors')
  const { band, autoFailed, isShortened, sections } = breakdown
  return (
    <section className={styles.breakdown} aria-label="Scorecard">
      {band !== null && (
        <p>
          Band: <strong>{band}</strong>
        </p>
      )}
      {isShortened && <p>Reasoning and quotes aren’t shown because this page is too long.</p>}
      {sections.map(({ name, earned, possible, items }) => (
        <div key={items[0]?.monitorId}>
          <h3>
            <span>{name}</span>
            <span>
              {formatNumber(earned)} of {formatNumber(possible)} points
            </span>
          </h3>
          <ul className={styles.items}>
            {items.map((item) => (
              <ItemRow
                key={item.monitorId}
                item={item}
                name={nameOf(item.monitorId)}
                hasFailed={autoFailed.includes(item.monitorId)}
                quote={quote}
              />
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}
