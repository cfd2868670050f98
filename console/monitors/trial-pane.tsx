import type { ReactNode } from 'react'
import { useNames } from '../api/names.ts'
import { formatCount, formatMoney, formatNumber, plural } from '../lib/format.ts'
import { Badge, OutcomeBadge, outcomeOf } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Code } from '../ui/copy.tsx'
import { useKeys } from '../ui/keys.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Section } from '../ui/page.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './editor.module.css'
import { type Monitor, useNewest } from './queries.ts'
import type { Kind } from './search.ts'
import { maxShown, type Trial, type TrialExamples, type Tried, type useTrial } from './use-trial.ts'

const OutputValues = lazy(async () => (await import('./output-values.tsx')).OutputValues)

const wordOf = (outcome: { status: string; result: string | null }) => outcomeOf(outcome).word.toLowerCase()

const Outcome = ({ tried: { asked, status, result } }: { tried: Tried }) =>
  asked && status ? <OutcomeBadge status={status} result={result} /> : <Badge>Not in scope</Badge>

type TriedRowProps = {
  tried: Tried
  of: ReturnType<ReturnType<typeof useNewest>>
  /** The result that an example should have. */
  expected: string | undefined
}

const TriedRow = ({ tried, of, expected }: TriedRowProps) => {
  const { nameOf } = useNames('agents')
  const { conversationId, score, reasoning, evidence, stored, judgment, flips } = tried
  const others = evidence.filter(({ field }) => field === undefined)
  return (
    <li className={flips ? `${styles.tried} ${styles.flips}` : styles.tried}>
      <div className={styles.line}>
        <Outcome tried={tried} />
        {/* Opens in a new tab, so that the form's input isn't lost. */}
        <a href={`/conversations/${conversationId}`} target="_blank" rel="noreferrer">
          {of ? (
            <>
              <Time at={of.startedAt} /> · {nameOf(of.agentId)}
            </>
          ) : (
            <code>{conversationId.slice(0, 13)}…</code>
          )}
        </a>
        {score !== null && <span className={styles.soft}>score {formatNumber(score)}</span>}
        {flips && stored && <span>was {wordOf(stored)}</span>}
        {expected && <span className={styles.soft}>example: {expected}</span>}
        {judgment && <span className={styles.soft}>reviewer: {wordOf({ status: 'scored', result: judgment })}</span>}
      </div>
      {(tried.categories || tried.fields) && (
        <OutputValues
          {...tried}
          monitorId={undefined}
          evidence={evidence}
          quote={({ quote }) => <span className={styles.soft}>“{quote}”</span>}
        />
      )}
      {reasoning && <p className={styles.soft}>{reasoning}</p>}
      {others.length > 0 && <p className={styles.soft}>{others.map(({ quote }) => `“${quote}”`).join(' · ')}</p>}
    </li>
  )
}

const Summary = ({ trial: { data, summary }, noun }: { trial: Trial; noun: string }) => {
  const { affected, notAffected, unscored, failed, notAsked, tokens, cost } = summary
  const rest = [
    unscored > 0 && `${formatCount(unscored)} unscored`,
    failed > 0 && `${formatCount(failed)} failed`,
    notAsked > 0 && `${formatCount(notAsked)} not in scope`,
  ].filter(Boolean)
  return (
    <p>
      {noun === 'example' ? '' : 'Latest '}
      {plural(data.length, noun)}: <strong>{formatCount(affected)} affected</strong>, {formatCount(notAffected)} not
      affected{rest.length > 0 && `, ${rest.join(', ')}`}.
      {tokens &&
        ` Used ${formatCount(tokens.input + tokens.output)} tokens${cost === null ? '' : ` (${formatMoney(cost)})`}.`}
    </p>
  )
}

/** Counts the changed results that reviewers had confirmed. */
const lostOf = ({ data }: Trial): number =>
  data.filter(({ judgment, stored, flips }) => flips && judgment !== null && stored?.result === judgment).length

const changesOf = ({ summary: { flips } }: Trial): string[] =>
  [
    flips.toAffected > 0 && `${formatCount(flips.toAffected)} to affected`,
    flips.toNotAffected > 0 && `${formatCount(flips.toNotAffected)} to not affected`,
    flips.toUnscored > 0 && `${formatCount(flips.toUnscored)} to unscored`,
  ].filter((change) => change !== false)

const Flips = ({ trial, reviewed }: { trial: Trial; reviewed: Trial | undefined }) => {
  const changes = changesOf(trial)
  const people = reviewed?.summary.people
  return (
    <div className={styles.effect}>
      <h3>Changes from the current version</h3>
      <p>
        Latest {plural(trial.data.length, 'conversation')}:{' '}
        {changes.length === 0 ? 'no results change.' : <strong>{changes.join(', ')}.</strong>}
      </p>
      {reviewed && people && people.judged > 0 && (
        <p>
          {plural(people.judged, 'reviewed conversation')}: the current version agrees with reviewers on{' '}
          {formatCount(people.agreeBefore)}, this draft on {formatCount(people.agreeNow)}.{' '}
          <strong>{formatCount(lostOf(reviewed))}</strong> correct results would become wrong.
        </p>
      )}
      {people?.judged === 0 && <p className={styles.soft}>Nobody has reviewed this monitor’s results yet.</p>}
    </div>
  )
}

const expectedOf = ({ affected }: TrialExamples, { conversationId }: Tried): string =>
  affected.some((example) => example.conversationId === conversationId) ? 'affected' : 'not affected'

const rowsOf = ({ data }: Trial): Tried[] =>
  data.toSorted((a, b) => Number(b.flips) - Number(a.flips)).slice(0, maxShown)

const Answers = ({
  trial,
  reviewed,
  monitor,
  examples,
}: {
  trial: Trial
  reviewed: Trial | undefined
  monitor: Monitor | undefined
  examples: TrialExamples | undefined
}) => {
  const newest = useNewest({ statuses: ['completed'] }, 200)
  if (trial.data.length === 0)
    return (
      <Empty title="No completed conversations yet">
        <p>When a conversation completes, this monitor’s result appears here.</p>
      </Empty>
    )
  return (
    <>
      {monitor && <Flips trial={trial} reviewed={reviewed} />}
      <Summary trial={trial} noun={examples ? 'example' : 'conversation'} />
      <ol className={styles.list} aria-label="Preview">
        {rowsOf(trial).map((tried) => (
          <TriedRow
            key={tried.conversationId}
            tried={tried}
            of={newest(tried.conversationId)}
            expected={examples && expectedOf(examples, tried)}
          />
        ))}
      </ol>
    </>
  )
}

type TrialPaneProps = {
  kind: Kind
  monitor: Monitor | undefined
  examples: TrialExamples | undefined
  trial: ReturnType<typeof useTrial>
}

/** Describes whether the results are from an earlier draft. */
const standingOf = ({ problems, isFetching }: TrialPaneProps['trial'], isJudge: boolean): string => {
  if (problems.length > 0) return 'From the last valid definition'
  if (isFetching) return 'Running…'
  return isJudge ? 'Out of date: the definition has changed' : 'Running…'
}

/** Returns phrases for the conversations that the preview uses. */
const subjectOf = (examples: TrialExamples | undefined) =>
  examples
    ? { inWords: 'the examples', inButton: 'examples' }
    : { inWords: 'the latest conversations', inButton: `${maxShown} conversations` }

export const TrialPane = ({ kind, monitor, examples, trial: state }: TrialPaneProps) => {
  const { trial, reviewed, isFetching, isStale, error, isFilled, run, retry } = state
  const isJudge = kind === 'judge'
  const subject = subjectOf(examples)
  useKeys(isJudge ? { 'mod+Enter': { does: 'Run preview', run: () => isFilled && run(), always: true } } : {})
  let standing: ReactNode = null
  if (error) standing = <FaultNote error={error} retry={retry} />
  else if (!trial && isFetching) standing = <Loading lines={10} />
  else if (!trial)
    standing = (
      <p className={styles.soft}>
        {isJudge
          ? `Write the criteria, then run a preview on ${subject.inWords}.`
          : 'Write a rule to see its results on the latest conversations as you type.'}
      </p>
    )
  return (
    <Section
      title="Preview"
      context={trial && isStale ? standingOf(state, isJudge) : undefined}
      actions={
        isJudge && (
          <Button busy={isFetching} disabled={!isFilled} onClick={run}>
            {trial ? 'Run preview again' : `Run preview on ${subject.inButton}`}
          </Button>
        )
      }
    >
      <div className={styles.answers} aria-live="polite">
        {standing}
        {trial && <Answers trial={trial} reviewed={reviewed} monitor={monitor} examples={examples} />}
      </div>
    </Section>
  )
}

const postingLines = (id: string) => `curl -sS ${location.origin}/v1/monitor-results \\
  -H "Authorization: Bearer $EARSHOT_KEY" -H "Content-Type: application/json" \\
  -d '{ "results": [{
    "monitorId": "${id}",
    "conversationExternalId": "your-id",
    "result": "affected",
    "reasoning": "The customer asks to move an appointment.",
    "evidence": [{ "turn": 1, "quote": "I want to move my appointment." }]
  }] }'`

export const HowToPost = ({ id }: { id: string | undefined }) => (
  <Section title="Post results">
    <div className={styles.answers}>
      <p className={styles.soft}>
        Save the monitor, then post its results with an API key, up to 1,000 per request. Sending a batch again is safe.
      </p>
      <Code>{postingLines(id ?? 'the monitor’s ID')}</Code>
    </div>
  </Section>
)
