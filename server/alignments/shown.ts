// Returns alignments in the API's format.

import type { MonitorDefinition } from '../monitors/definition.ts'
import { exampleIdsOf, hideExamples } from '../monitors/learned.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Actor } from '../platform/identity/actor.ts'
import type { AlignmentDeps } from './deps.ts'
import { flipsOf } from './gain.ts'
import { needsModel } from './kinds.ts'
import {
  listAlignmentResults,
  listCases,
  listProgress,
  listProposals,
  type Proposal,
  type StoredAlignment,
} from './queries.ts'
import { type Measured, pairsOf, type Report } from './report.ts'

/** Returns alignments without their results. */
export const showSummaries = async (db: Db, org: OrgId, alignments: StoredAlignment[]) => {
  const ids = alignments.map(({ id }) => id)
  const progress = new Map((await listProgress(db, org, ids)).map((one) => [one.alignmentId, one]))
  return alignments.map(({ id, monitorId, monitorVersion, status, failure, kinds, maxCost, cost, ...rest }) => {
    const { done, cases, tested } = progress.get(id) ?? { done: 0, cases: 0, tested: 0 }
    const needed = cases + tested * kinds.filter(needsModel).length
    const isOver = status === 'completed'
    return {
      id,
      monitorId,
      monitorVersion,
      status,
      failure,
      requestedProposals: kinds,
      maxCost,
      // There may have been fewer conversations to test than expected.
      total: isOver ? done : Math.max(needed, done),
      done,
      tokens: { input: rest.inputTokens, output: rest.outputTokens },
      cost: rest.isCostUnknown ? null : cost,
      createdAt: rest.createdAt,
      startedAt: rest.startedAt,
      finishedAt: rest.finishedAt,
    }
  })
}

export const showSummary = async (db: Db, org: OrgId, alignment: StoredAlignment) => {
  const [summary] = await showSummaries(db, org, [alignment])
  if (!summary) throw new Error('Each alignment must have a summary.')
  return summary
}

type ProposalVerdict = 'shown' | 'not_shown' | 'none' | 'removed' | 'pending'

const verdictOf = ({ definition, isRemoved, measured, reason }: Proposal): ProposalVerdict => {
  if (isRemoved) return 'removed'
  if (definition === null) return reason === null ? 'pending' : 'none'
  if (measured === null) return 'pending'
  return (measured as Measured).isShown ? 'shown' : 'not_shown'
}

type ReportView = { hidden: ReadonlySet<string>; flips: ReturnType<typeof flipsOf>; isCostUnknown: boolean }

const shownProposal = (proposal: Proposal, { hidden, flips, isCostUnknown }: ReportView) => {
  const { kind, reason, changes, definition, measured, inputTokens, outputTokens, cost, appliedVersion } = proposal
  const seen = (ids: string[]) => ids.filter((id) => !hidden.has(id))
  const { isShown: _, ...figures } = (measured ?? {}) as Measured
  return {
    kind,
    verdict: verdictOf(proposal),
    reason,
    changes,
    definition: definition && (hideExamples(definition, hidden) as MonitorDefinition),
    measured: measured === null ? null : figures,
    fixedConversationIds: seen(flips.fixed),
    brokenConversationIds: seen(flips.broken),
    tokens: { input: inputTokens, output: outputTokens },
    cost: isCostUnknown && inputTokens > 0 ? null : cost,
    appliedVersion,
  }
}

/** Returns an alignment with its report, without any data that the reader still has to judge blind. */
export const showAlignment = async (
  { db, findBlind }: Pick<AlignmentDeps, 'db' | 'findBlind'>,
  actor: Actor,
  alignment: StoredAlignment,
) => {
  const { org } = actor
  const summary = await showSummary(db, org, alignment)
  const cases = await listCases(db, org, alignment.id)
  const results = await listAlignmentResults(db, org, alignment.id)
  const isOver = alignment.status === 'completed'
  const proposals = (await listProposals(db, org, alignment.id)).map((proposal) => ({
    proposal,
    flips: isOver ? flipsOf(pairsOf({ cases, results }, proposal)) : { fixed: [], broken: [] },
  }))
  const ids = proposals.flatMap(({ proposal: { definition }, flips }) => [
    ...flips.fixed,
    ...flips.broken,
    ...(definition ? exampleIdsOf(definition) : []),
  ])
  const hidden = new Set(ids.length > 0 ? await findBlind(db, actor, [...new Set(ids)]) : [])
  const { isCostUnknown } = alignment
  return {
    ...summary,
    report: alignment.report as Report | null,
    proposals: proposals.map(({ proposal, flips }) => shownProposal(proposal, { hidden, flips, isCostUnknown })),
  }
}
