import { useQuery } from '@tanstack/react-query'
import { Check, CircleDashed, TriangleAlert } from 'lucide-react'
import { answer, api } from '../api/client.ts'
import { useCount } from '../filters/count.ts'
import { plural } from '../lib/format.ts'
import { Difference } from '../ui/difference.tsx'
import { daysAgo } from './days.ts'
import { type Draft, missingFields } from './draft.ts'
import styles from './launch.module.css'
import { versionsOptions } from './queries.ts'

type Line = { mark: 'fits' | 'attention' | 'unknown'; says: string }

const icons = { fits: <Check />, attention: <TriangleAlert />, unknown: <CircleDashed /> }
const words = { fits: 'OK', attention: 'Needs attention', unknown: 'Not known yet' }

const days = 7

const useTraffic = (versionId: string | null): number | undefined => {
  const { data } = useCount(versionId === null ? {} : { agentVersionIds: [versionId], since: daysAgo(days) })
  return versionId === null ? undefined : data?.count
}

/** Returns the checks before a launch. */
const useLines = (draft: Draft): Line[] => {
  const { agentId, armAVersionId, armBVersionId, expectedArmAPercent, unit, cohortFilters, outcomeMetricIds } = draft
  const [inA, inB] = [useTraffic(armAVersionId), useTraffic(armBVersionId)]
  const running = useQuery({
    queryKey: ['experiments', 'running', agentId],
    queryFn: () =>
      answer(
        api.GET('/v1/experiments', { params: { query: { limit: 50, status: 'running', agentId: agentId ?? '' } } }),
      ),
    enabled: agentId !== null,
  })
  const beside = (running.data?.data ?? []).filter((other) =>
    [other.armAVersionId, other.armBVersionId].some((id) => id === armAVersionId || id === armBVersionId),
  )
  const lacks = missingFields(draft)
  const lines: (Line | false)[] = [
    lacks.length > 0 && { mark: 'unknown', says: `Still needed: ${lacks.join(', ')}.` },
    armAVersionId !== null &&
      armAVersionId === armBVersionId && {
        mark: 'attention',
        says: 'A and B are the same version. Choose different versions.',
      },
    inA !== undefined && {
      mark: 'fits',
      says: `A had ${plural(inA, 'conversation')} in the last ${days} days.`,
    },
    inB !== undefined && {
      mark: 'fits',
      says:
        inB === 0
          ? 'B hasn’t been used yet. Its conversations appear once you route traffic to it.'
          : `B had ${plural(inB, 'conversation')} in the last ${days} days. Only conversations after the launch count.`,
    },
    beside.length > 0 && {
      mark: 'attention',
      says: `${beside.map(({ name }) => `“${name}”`).join(', ')} also uses one of these versions.`,
    },
    agentId !== null &&
      running.isSuccess &&
      beside.length === 0 && { mark: 'fits', says: 'No other running experiment uses these versions.' },
    outcomeMetricIds.length > 1 && {
      mark: 'fits',
      says: `${plural(outcomeMetricIds.length, 'outcome')}. The secondary outcomes are corrected for multiple comparisons.`,
    },
    expectedArmAPercent.trim() === ''
      ? { mark: 'attention', says: 'Without an expected share for A, Earshot can’t detect uneven routing.' }
      : { mark: 'fits', says: `Earshot tests the split against ${expectedArmAPercent.trim()}% for A.` },
    {
      mark: 'fits',
      says:
        unit === 'auto'
          ? 'Callers are identified by customer ID. A conversation without one counts as a separate caller.'
          : 'Callers are identified by this metadata key. A conversation without it counts as a separate caller.',
    },
    cohortFilters.length > 0 && {
      mark: 'fits',
      says: 'Only conversations that match all conditions are included.',
    },
  ]
  return lines.filter((line) => line !== false)
}

export const LaunchChecks = ({ draft }: { draft: Draft }) => {
  const lines = useLines(draft)
  const { data } = useQuery(versionsOptions(draft.agentId))
  const promptOf = (id: string | null) => data?.data.find((version) => version.id === id)?.systemPrompt
  const [a, b] = [promptOf(draft.armAVersionId), promptOf(draft.armBVersionId)]
  return (
    <section className={styles.checks} aria-label="Checks">
      <h2>Checks</h2>
      <ul>
        {lines.map(({ mark, says }) => (
          <li key={says} className={styles[mark]}>
            <span role="img" aria-label={words[mark]}>
              {icons[mark]}
            </span>
            {says}
          </li>
        ))}
      </ul>
      {a !== undefined && b !== undefined && a !== b && (
        <>
          <h2>Changes in B</h2>
          <Difference label="Prompt changes in B" before={a} after={b} />
        </>
      )}
    </section>
  )
}
