import { FilterWords } from '../filters/filter-bar.tsx'
import { formatNumber, plural } from '../lib/format.ts'
import { Code } from '../ui/copy.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Prose, Section } from '../ui/page.tsx'
import { outputWords } from './definition-text.ts'
import { readDefinition } from './draft.ts'
import { splitModel } from './model-name.ts'
import styles from './monitor.module.css'
import type { Monitor } from './queries.ts'

const ScorecardDefinition = lazy(
  async () => (await import('./scorecards/scorecard-definition.tsx')).ScorecardDefinition,
)

/** Describes the sound that a listening judge hears. */
const HeardWords = ({ input, expression }: ReturnType<typeof readDefinition>['judge']['hears']) => {
  if (input !== 'sound') return null
  if (expression === '') return <p className={styles.soft}>Listens to the whole call.</p>
  return (
    <p className={styles.soft}>
      Listens to the recording around the turns that match <code>{expression}</code>.
    </p>
  )
}

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
            {rule.categories && (
              <p className={styles.soft}>
                Categories: <code>{rule.categories}</code>
              </p>
            )}
            {rule.fields && (
              <p className={styles.soft}>
                Fields: <code>{rule.fields}</code>
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
              {outputWords(judge.output).join('. ')}
              {judge.model && ` (model: ${splitModel(judge.model).model || 'its provider’s default'})`}.
            </p>
            <HeardWords {...judge.hears} />
            {judge.guidelines.length > 0 && (
              <ul aria-label="Guidelines">
                {judge.guidelines.map(({ text }) => (
                  <li key={text}>{text}</li>
                ))}
              </ul>
            )}
            {judge.learned.examples && judge.learned.examples.length > 0 && (
              <p className={styles.soft}>
                Learns from {plural(judge.learned.examples.length, 'example')} judged by reviewers.
              </p>
            )}
          </>
        )}
        {kind === 'scorecard' && <ScorecardDefinition definition={currentVersion.definition} />}
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
