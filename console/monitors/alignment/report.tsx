import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { formatCount, formatMoney, formatPoints, formatShort, plural, signedPoints } from '../../lib/format.ts'
import { announce } from '../../ui/announce.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/controls.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Difference } from '../../ui/difference.tsx'
import { Estimate } from '../../ui/estimate.tsx'
import { Kappa } from '../../ui/kappa.tsx'
import { Prose } from '../../ui/page.tsx'
import { textOf } from '../definition-text.ts'
import type { Monitor } from '../queries.ts'
import styles from './alignment.module.css'
import { type Alignment, type AlignmentProposal, applyProposal, refreshMonitor } from './queries.ts'

const names: Record<AlignmentProposal['kind'], string> = {
  threshold: 'Another threshold',
  calibration: 'Calibrated scores',
  examples: 'Examples',
  guidelines: 'Guidelines',
}

const verdicts: Record<AlignmentProposal['verdict'], { tone: Tone; word: string }> = {
  shown: { tone: 'accent', word: 'Gain shown' },
  not_shown: { tone: 'plain', word: 'No gain shown' },
  none: { tone: 'unscored', word: 'Nothing to propose' },
  removed: { tone: 'unscored', word: 'Removed' },
  pending: { tone: 'unscored', word: 'Not tested' },
}

type Measures = NonNullable<Alignment['report']>['baseline']

const affectedBy = ({ matrix }: Measures): number => matrix.truePositives + matrix.falsePositives
const affectedOf = ({ matrix }: Measures): number => matrix.truePositives + matrix.falseNegatives
const decidedOf = ({ matrix }: Measures): number => Object.values(matrix).reduce((sum, count) => sum + count, 0)

const Share = ({ of, n }: { of: Measures['precision']; n: number }) => (
  <Estimate rate={of?.value ?? null} low={of?.low} high={of?.high} n={n} />
)

const Figures = ({ measures }: { measures: Measures }) => (
  <dl className={styles.figures}>
    <div>
      <dt>Precision</dt>
      <dd>
        <Share of={measures.precision} n={affectedBy(measures)} />
      </dd>
    </div>
    <div>
      <dt>Recall</dt>
      <dd>
        <Share of={measures.recall} n={affectedOf(measures)} />
      </dd>
    </div>
    <div>
      <dt>Agreement</dt>
      <dd>
        <Share of={measures.agreement} n={measures.conversations} />
      </dd>
    </div>
    <div>
      <dt>κ</dt>
      <dd>
        <Kappa of={measures.kappa} n={decidedOf(measures)} />
      </dd>
    </div>
  </dl>
)

const People = ({ people }: { people: NonNullable<NonNullable<Alignment['report']>['people']> }) => (
  <div className={styles.part}>
    <h3>People</h3>
    {people.warning && (
      <p className={styles.warning} role="note">
        <strong>Unclear question.</strong> {people.warning}
      </p>
    )}
    <dl className={styles.figures}>
      <div>
        <dt>Two reviewers agree</dt>
        <dd>
          <Share of={people.agreement} n={people.conversations} />
        </dd>
      </div>
      <div>
        <dt>The judge and a reviewer agree</dt>
        <dd>
          <Share of={people.judgeAgreement} n={people.conversations} />
        </dd>
      </div>
    </dl>
  </div>
)

const mostLinks = 12

const Flips = ({ label, ids, count }: { label: string; ids: string[]; count: number }) =>
  count > 0 && (
    <div>
      <p className={styles.soft}>
        {label}: {formatCount(count)}
      </p>
      <ul className={styles.flips}>
        {ids.slice(0, mostLinks).map((id) => (
          <li key={id}>
            <Link to="/conversations/$id" params={{ id }}>
              <code>{id.slice(-8)}</code>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )

const Apply = ({ monitor, alignment, proposal }: ProposalProps) => {
  const [confirming, setConfirming] = useState(false)
  const [reason, setReason] = useState('')
  const isAdmin = useMay('admin')
  const isGated = monitor.requireGain && proposal.verdict !== 'shown'
  if (isGated && !isAdmin) return <p className={styles.soft}>This monitor requires a proven gain.</p>
  return (
    <div>
      <Button onClick={() => setConfirming(true)}>Apply</Button>
      <Confirm
        title={`Apply “${names[proposal.kind]}”?`}
        action="Create new version"
        open={confirming}
        onClose={() => setConfirming(false)}
        run={async () => {
          const overrideReason = isGated && reason.trim() !== '' ? { overrideReason: reason } : {}
          const applied = await applyProposal(monitor.id, alignment.id, { proposal: proposal.kind, ...overrideReason })
          const { appliedVersion } = applied.proposals.find(({ kind }) => kind === proposal.kind) ?? {}
          announce(`“${monitor.name}” is now version ${appliedVersion}`)
          await refreshMonitor(monitor.id)
        }}
      >
        <p>
          This creates version {monitor.currentVersion.number + 1}. Results from earlier versions are kept, and new
          conversations are evaluated with the new version.
        </p>
        {proposal.verdict !== 'shown' && <p>The test half doesn’t show an improvement over the current version.</p>}
        {isGated && (
          <Field label="Reason for publishing without a proven gain">
            {(ids) => <Input {...ids} value={reason} onChange={({ target }) => setReason(target.value)} />}
          </Field>
        )}
      </Confirm>
    </div>
  )
}

type ProposalProps = { monitor: Monitor; alignment: Alignment; proposal: AlignmentProposal }

const Paid = ({ proposal: { tokens, cost } }: { proposal: AlignmentProposal }) => (
  <p className={styles.soft}>
    {tokens.input + tokens.output === 0
      ? 'Needs no model.'
      : `Tested with ${formatShort(tokens.input + tokens.output)} tokens${cost === null ? '' : ` (${formatMoney(cost)})`}.`}
  </p>
)

const Proposal = ({ monitor, alignment, proposal }: ProposalProps) => {
  const mayWrite = useMay('member')
  const { kind, verdict, reason, changes, measured, definition, appliedVersion } = proposal
  const { tone, word } = verdicts[verdict]
  const isCurrent = monitor.currentVersion.number === alignment.monitorVersion
  return (
    <article className={styles.proposal} aria-label={names[kind]}>
      <div className={styles.line}>
        <h3>{names[kind]}</h3>
        <Badge tone={tone}>{word}</Badge>
      </div>
      {reason && <p className={styles.soft}>{reason}</p>}
      {verdict === 'removed' && <p className={styles.soft}>A review behind this proposal was removed.</p>}
      <ul className={styles.changes}>
        {changes.map((change) => (
          <li key={change}>{change}</li>
        ))}
      </ul>
      {measured && (
        <>
          <p>
            Agreement <strong>{signedPoints(measured.gain.value)}</strong> points ({formatPoints(measured.gain.low)} to{' '}
            {formatPoints(measured.gain.high)}), n = {formatCount(measured.conversations)}
          </p>
          <Figures measures={measured} />
          <Flips label="Fixed" ids={proposal.fixedConversationIds} count={measured.fixed} />
          <Flips label="Broken" ids={proposal.brokenConversationIds} count={measured.broken} />
          <Paid proposal={proposal} />
        </>
      )}
      {definition && isCurrent && (
        <details>
          <summary>Compare with the current definition</summary>
          <Difference
            label={`Changes in “${names[kind]}”`}
            before={textOf(monitor.kind, monitor.currentVersion.definition)}
            after={textOf(monitor.kind, definition)}
          />
        </details>
      )}
      {appliedVersion !== null && <p>Applied as version {appliedVersion}.</p>}
      {mayWrite && definition && isCurrent && <Apply monitor={monitor} alignment={alignment} proposal={proposal} />}
    </article>
  )
}

/** Shows how well a judge agrees with people, and which changes would improve the agreement. */
export const Report = ({ monitor, alignment }: { monitor: Monitor; alignment: Alignment }) => {
  const { report, proposals } = alignment
  if (!report) return null
  const { baseline, people, tuning } = report
  const isOutdated = monitor.currentVersion.number !== alignment.monitorVersion
  return (
    <div className={styles.part}>
      <div className={styles.part}>
        <h3>Version {alignment.monitorVersion} on the test half</h3>
        <Figures measures={baseline} />
        {baseline.unscored + baseline.failed > 0 && (
          <p className={styles.soft}>
            {formatCount(baseline.unscored)} unscored and {formatCount(baseline.failed)} failed results count only
            toward agreement, as wrong.
          </p>
        )}
      </div>
      {people && <People people={people} />}
      <h3>Proposals</h3>
      <Prose>
        <p className={styles.soft}>
          Learned from {plural(tuning.conversations, 'judged conversation')}, and tested on{' '}
          {formatCount(baseline.conversations)} others. Gains have simultaneous 95% intervals, because several proposals
          are tested.
          {isOutdated && ' The monitor has changed since then, so you can’t apply proposals.'}
        </p>
      </Prose>
      <div className={styles.proposals}>
        {proposals.map((proposal) => (
          <Proposal key={proposal.kind} monitor={monitor} alignment={alignment} proposal={proposal} />
        ))}
      </div>
    </div>
  )
}
