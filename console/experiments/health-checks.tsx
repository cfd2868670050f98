// Shows health checks: one line each, with a mark and a sentence.

import { Check, CircleDashed, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatCount, formatPercent, plural } from '../lib/format.ts'
import { wilson } from '../lib/wilson.ts'
import { Split } from '../ui/charts/split.tsx'
import styles from './health-checks.module.css'
import type { Experiment } from './queries.ts'

type Mark = 'fits' | 'attention' | 'unknown'

type Line = { matter: string; mark: Mark; says: ReactNode }

const marks: Record<Mark, { icon: ReactNode; word: string }> = {
  fits: { icon: <Check />, word: 'OK' },
  attention: { icon: <TriangleAlert />, word: 'Needs attention' },
  unknown: { icon: <CircleDashed />, word: 'Not enough data' },
}

const splitLine = ({ health: { sampleRatio } }: Experiment): Line => {
  const { status, units, expectedA, shareOfA } = sampleRatio
  const all = units.a + units.b
  const seen = all === 0 ? '' : `${formatPercent(units.a / all)} of ${plural(all, 'caller')} saw A`
  const expected = expectedA === null ? '' : `, expected ${formatPercent(expectedA)}`
  const bounds = shareOfA ? ` (interval ${formatPercent(shareOfA.low)} to ${formatPercent(shareOfA.high)})` : ''
  const says: Record<typeof status, string> = {
    not_configured: `${seen === '' ? 'No callers yet' : seen}. The split isn’t tested because no expected share is set.`,
    too_few: `Fewer than 20 callers so far${seen === '' ? '' : `: ${seen}`}.`,
    fits: `${seen}${expected}${bounds}.`,
    watch: `${seen}${expected}${bounds}. This may be chance. Keep an eye on your routing.`,
    mismatch: `${seen}${expected}${bounds}. The split doesn’t match. Fix your routing, then launch a new experiment.`,
  }
  const mark: Record<typeof status, Mark> = {
    not_configured: 'unknown',
    too_few: 'unknown',
    fits: 'fits',
    watch: 'attention',
    mismatch: 'attention',
  }
  return { matter: 'Split', mark: mark[status], says: says[status] }
}

const routingLine = ({ health: { routing } }: Experiment): Line => {
  const { status, returning, inBothArms } = routing
  const both = `${formatCount(inBothArms)} of ${plural(returning, 'caller')} who returned saw both A and B`
  const says: Record<typeof status, string> = {
    cannot_tell: 'No returning callers yet, or callers can’t be identified.',
    stable: `${both}.`,
    unstable_routing: `${both}. Check the difference without them and fix your routing.`,
    routed_per_conversation: `${both}. Route by caller, then launch a new experiment.`,
  }
  const mark: Record<typeof status, Mark> = {
    cannot_tell: 'unknown',
    stable: 'fits',
    unstable_routing: 'attention',
    routed_per_conversation: 'attention',
  }
  return { matter: 'Callers in both arms', mark: mark[status], says: says[status] }
}

const overlapLine = ({ health: { concurrency } }: Experiment): Line => {
  const { status, overlapShare } = concurrency
  const share = overlapShare === null ? '' : ` (${formatPercent(overlapShare)} overlap)`
  const says: Record<typeof status, string> = {
    cannot_tell: 'Too few days to compare.',
    concurrent: `A and B ran at the same times${share}.`,
    arms_not_concurrent: `A and B didn’t run at the same times, or the split changed${share}. Time effects can bias the difference.`,
  }
  const mark: Record<typeof status, Mark> = {
    cannot_tell: 'unknown',
    concurrent: 'fits',
    arms_not_concurrent: 'attention',
  }
  return { matter: 'Overlap in time', mark: mark[status], says: says[status] }
}

const missingLine = ({ outcomes }: Experiment): Line => {
  const flagged = outcomes.filter(({ missingness }) => missingness.flags.length > 0)
  const [first] = flagged
  if (!first) {
    const lacking = outcomes.reduce((sum, { arms: { a, b } }) => sum + a.missing + a.failed + b.missing + b.failed, 0)
    return {
      matter: 'Missing observations',
      mark: 'fits',
      says:
        lacking === 0
          ? 'No observations are missing.'
          : `${plural(lacking, 'observation')} missing or failed, similar in A and B.`,
    }
  }
  const { shareA, shareB } = first.missingness
  const shares = `${formatPercent(shareA ?? 0)} of A and ${formatPercent(shareB ?? 0)} of B`
  return {
    matter: 'Missing observations',
    mark: 'attention',
    says: `“${first.name}” is missing for ${shares}${flagged.length > 1 ? `, and ${plural(flagged.length - 1, 'other outcome')} too` : ''}. Retry the missing observations. Until then, use the worst case.`,
  }
}

const evenLine = ({ health: { byHour, byCompany, byDirection } }: Experiment): Line => {
  const kinds = [
    { name: 'hours of the day', split: byHour },
    { name: 'companies', split: byCompany },
    { name: 'directions', split: byDirection },
  ]
  const uneven = kinds.filter(({ split }) => split.status === 'uneven').map(({ name }) => name)
  if (uneven.length > 0) {
    return {
      matter: 'Conversation mix',
      mark: 'attention',
      says: `A and B differ in their mix of ${uneven.join(' and ')}. This can bias the difference.`,
    }
  }
  const isEven = kinds.some(({ split }) => split.status === 'even')
  return {
    matter: 'Conversation mix',
    mark: isEven ? 'fits' : 'unknown',
    says: isEven
      ? 'A and B have the same mix of hours, companies, and directions.'
      : 'Too few conversations to compare.',
  }
}

const othersLine = ({ health: { overlapping, otherVersions } }: Experiment): Line | undefined => {
  const others = otherVersions.reduce((sum, { conversations }) => sum + conversations, 0)
  const sentences = [
    others > 0 && `${plural(others, 'conversation')} with other versions of the agent aren’t counted`,
    overlapping.length > 0 &&
      `${overlapping.map(({ name }) => `“${name}”`).join(', ')} also uses one of these versions`,
  ].filter((text) => text !== false)
  return sentences.length === 0
    ? undefined
    : { matter: 'Other traffic', mark: 'unknown', says: `${sentences.join('; ')}.` }
}

export const HealthChecks = ({ experiment }: { experiment: Experiment }) => {
  const lines = [splitLine, routingLine, overlapLine, missingLine, evenLine, othersLine]
    .map((lineOf) => lineOf(experiment))
    .filter((line) => line !== undefined)
  const { byDay } = experiment.health
  const dayMs = 86_400_000
  return (
    <>
      <ul className={styles.lines}>
        {lines.map(({ matter, mark, says }) => (
          <li key={matter} className={styles[mark]}>
            <span className={styles.mark} role="img" aria-label={marks[mark].word}>
              {marks[mark].icon}
            </span>
            <strong>{matter}</strong>
            <span>{says}</span>
          </li>
        ))}
      </ul>
      {byDay.length > 1 && (
        <Split
          title="Share of A by day"
          valueName="Share of A"
          expected={(experiment.expectedArmAPercent ?? 50) / 100}
          points={byDay.map(({ day, a, b }) => ({
            start: `${day}T00:00:00.000Z`,
            end: new Date(Date.parse(`${day}T00:00:00.000Z`) + dayMs).toISOString(),
            share: a + b === 0 ? null : a / (a + b),
            ...(wilson(a, a + b) ?? { low: null, high: null }),
            n: a + b,
          }))}
        />
      )}
    </>
  )
}
