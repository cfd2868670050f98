import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatCount, formatPercent, plural } from '../lib/format.ts'
import { Difference } from '../ui/difference.tsx'
import { Await } from '../ui/states.tsx'
import styles from './arms.module.css'
import { type Arm, armName, type Experiment, filterOfArm, versionOptions } from './queries.ts'

const ArmCard = ({ experiment, arm }: { experiment: Experiment; arm: Arm }) => {
  const { agentId, armAVersionId, armBVersionId, health, expectedArmAPercent } = experiment
  const versionId = arm === 'a' ? armAVersionId : armBVersionId
  const { data: version } = useQuery(versionOptions(agentId, versionId))
  const { a, b } = health.sampleRatio.units
  const units = arm === 'a' ? a : b
  const expected =
    expectedArmAPercent === null ? null : (arm === 'a' ? expectedArmAPercent : 100 - expectedArmAPercent) / 100
  return (
    <section className={`${styles.arm} ${styles[arm]}`} aria-label={`Arm ${arm.toUpperCase()}`}>
      <h2>
        <span className={styles.letter}>{arm.toUpperCase()}</span> {armName(experiment, arm)}
        {version && (
          <span className={styles.version}>
            version {version.number}
            {version.label && `, ${version.label}`}
          </span>
        )}
      </h2>
      <p>
        <Link to="/conversations" search={{ filter: filterOfArm(experiment, arm) }}>
          {plural(health.conversations[arm], 'conversation')}
        </Link>
        {`, ${plural(units, 'caller')}`}
        {a + b > 0 && `: ${formatPercent(units / (a + b))} of callers`}
        {expected !== null && `, ${formatPercent(expected)} expected`}
      </p>
      {health.withoutUnit[arm] > 0 && (
        <p className={styles.soft}>
          {formatCount(health.withoutUnit[arm])} have no caller ID and count as separate callers.
        </p>
      )}
    </section>
  )
}

/** Shows word by word how B's prompt differs from A's. */
const PromptChange = ({ experiment: { agentId, armAVersionId, armBVersionId } }: { experiment: Experiment }) => {
  const a = useQuery(versionOptions(agentId, armAVersionId))
  const b = useQuery(versionOptions(agentId, armBVersionId))
  return (
    <details className={styles.change}>
      <summary>Prompt changes in B</summary>
      <Await query={a} lines={2}>
        {({ systemPrompt: before }) => (
          <Await query={b} lines={2}>
            {({ systemPrompt: after }) => <Difference label="Prompt changes in B" before={before} after={after} />}
          </Await>
        )}
      </Await>
    </details>
  )
}

/** Shows both arms side by side, with their callers. */
export const Arms = ({ experiment }: { experiment: Experiment }) => (
  <div className={styles.arms}>
    <ArmCard experiment={experiment} arm="a" />
    <ArmCard experiment={experiment} arm="b" />
    <PromptChange experiment={experiment} />
  </div>
)
