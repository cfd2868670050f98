import type { Schemas } from '../api/schema.d.ts'
import { formatCount, formatMoney, formatShort, plural } from '../lib/format.ts'
import type { Monitor } from './queries.ts'
import styles from './runs.module.css'

type EstimateWordsProps = {
  estimate: Schemas['EvaluationEstimate']
  kind: Monitor['kind']
  /** Describes the conversations, such as `in this period`. */
  where: string
}

/** Describes the conversations that a run would evaluate, and its cost. */
export const EstimateWords = ({ estimate, kind, where }: EstimateWordsProps) => {
  const { conversations, answered, tokens, cost, basis, budgetLeft } = estimate
  const toAsk = kind === 'judge' ? conversations - answered : conversations
  return (
    <div className={styles.estimate} role="status">
      <p>
        <strong>{plural(conversations, 'conversation')}</strong> {where}. {formatCount(answered)} already have a result
        from this version.{' '}
        {kind === 'judge'
          ? `The run skips these and evaluates the other ${formatCount(toAsk)}.`
          : 'The run evaluates these again.'}
      </p>
      {tokens && (
        <p>
          About {formatShort(tokens.input)} input and {formatShort(tokens.output)} output tokens
          {cost !== null ? `, about ${formatMoney(cost)}` : ', price unknown'}
          {basis === 'lengths' && ' (based on transcript length)'}
          {basis === 'results' && ' (based on earlier results)'}.
          {budgetLeft !== null && ` Monthly budget left: ${formatMoney(budgetLeft)}.`}
        </p>
      )}
    </div>
  )
}
