import { FilterWords } from '../filters/filter-bar.tsx'
import { formatNumber } from '../lib/format.ts'
import { Code } from '../ui/copy.tsx'
import { Prose, Section } from '../ui/page.tsx'
import { readDefinition } from './draft.ts'
import styles from './monitor.module.css'
import type { Monitor } from './queries.ts'

const operators = { gte: 'at least', gt: 'more than', lte: 'at most', lt: 'less than' }

/** Shows the monitor's definition, scope, and sampling rate. */
export const Definition = ({ monitor: { kind, currentVersion, scope, samplePercent } }: { monitor: Monitor }) => {
  const { rule, judge } = readDefinition(currentVersion.definition)
  return (
    <Section title="Definition">
      <div className={styles.definition}>
        {kind === 'rule' && (
          <>
            <Code label="Copy rule">{rule.expression}</Code>
            {rule.score && (
              <p className={styles.soft}>
                Score: <code>{rule.score}</code>
              </p>
            )}
          </>
        )}
        {kind === 'judge' && (
          <>
            <Prose>
              <p className={styles.criteria}>{judge.criteria}</p>
            </Prose>
            <p className={styles.soft}>
              {judge.output.type === 'boolean'
                ? 'Answers yes or no'
                : `Scores from ${judge.output.min} to ${judge.output.max}. Affected if the score is ${operators[judge.output.op]} ${judge.output.value}`}
              {judge.model && ` (model: ${judge.model})`}.
            </p>
          </>
        )}
        {kind === 'external' && <p className={styles.soft}>Your own code posts the results through the API.</p>}
        {kind !== 'external' && (
          <div className={styles.scope}>
            {Object.keys(scope).length > 0 ? (
              <FilterWords filter={scope} />
            ) : (
              <p className={styles.soft}>Runs on all conversations.</p>
            )}
            {samplePercent < 100 && <p className={styles.soft}>Sampling rate: {formatNumber(samplePercent)}%</p>}
          </div>
        )}
      </div>
    </Section>
  )
}
