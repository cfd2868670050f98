import { findMeanTokens } from '../evaluations/runs/queries.ts'
import type { JudgeDefinition } from '../monitors/judges/definition.ts'
import type { StoredMonitor } from '../monitors/queries.ts'
import { monthOf } from '../organizations/spending/month.ts'
import { getSpending } from '../organizations/spending/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Selected } from './cases.ts'
import type { AlignmentDeps } from './deps.ts'
import { needsModel } from './kinds.ts'
import { countAnswered, countCharacters, type ProposalKind } from './queries.ts'

/** If there are fewer earlier results of the version than this, the lengths of the transcripts give a better estimate. */
const enoughResults = 20

/** The number of tokens in an answer. Reasoning and quotes are usually short. */
const usualAnswerTokens = 200
const charactersPerToken = 4

type Expected = { monitor: StoredMonitor; requests: number; characters: number }

const expectTokens = async ({ db, judge }: AlignmentDeps, org: OrgId, { monitor, requests, characters }: Expected) => {
  const mean = await findMeanTokens(db, org, monitor.id, monitor.number)
  if (mean.judgements >= enoughResults) {
    const tokens = { input: Math.ceil(requests * (mean.input ?? 0)), output: Math.ceil(requests * (mean.output ?? 0)) }
    return { tokens, cost: mean.cost === null ? null : requests * mean.cost }
  }
  // Definitions were validated for their kind when they were stored.
  const forecaster = await judge.forecaster(org, monitor.definition as JudgeDefinition)
  const tokens = {
    input: Math.ceil(requests * (forecaster?.emptyTokens ?? 0) + characters / charactersPerToken),
    output: requests * usualAnswerTokens,
  }
  return { tokens, cost: forecaster ? forecaster.costOf(tokens) : null }
}

type Task = { monitor: StoredMonitor; selected: Selected; kinds: ProposalKind[] }

/** Estimates the number of requests to the model, and their cost. */
export const estimateAlignment = async (deps: AlignmentDeps, org: OrgId, { monitor, selected, kinds }: Task) => {
  const { db, clock } = deps
  const { cases, tuning, test, missing } = selected
  const ids = cases.map(({ conversationId }) => conversationId)
  const tested = cases.filter(({ half }) => half === 'test').map(({ conversationId }) => conversationId)
  const answered = await countAnswered(db, org, { monitorId: monitor.id, number: monitor.number, ids })
  const unanswered = ids.length - answered
  const times = kinds.filter(needsModel).length
  const requests = unanswered + tested.length * times
  const share = ids.length === 0 ? 0 : unanswered / ids.length
  const characters = (await countCharacters(db, org, ids)) * share + (await countCharacters(db, org, tested)) * times
  const estimated = await expectTokens(deps, org, { monitor, requests, characters })
  const { budgetLeft } = await getSpending(db, org, monthOf(clock.now()))
  return { tuning, test, missing, proposals: kinds, requests, ...estimated, budgetLeft }
}
