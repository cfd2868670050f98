// Makes proposals from the tuning half. Nothing here reads the test half.

import { setImmediate } from 'node:timers/promises'
import { readTurns } from '../conversations/ingest/tasks.ts'
import { listContents, listSubjects } from '../evaluations/queries.ts'
import { overBudget, type Stop } from '../evaluations/runs/judge-in-lanes.ts'
import { openChain } from '../model-providers/ask-chain.ts'
import type { ModelPrompt } from '../model-providers/requests/dialect.ts'
import { EndpointError, isNotSentYet } from '../model-providers/requests/endpoint-error.ts'
import type { Example, JudgeDefinition, ScoreOutput } from '../monitors/judges/definition.ts'
import { type Words, wordsOf } from '../monitors/judges/similarity.ts'
import { contentOf } from '../monitors/judges/transcript.ts'
import { monthOf } from '../organizations/spending/month.ts'
import { getSpending } from '../organizations/spending/queries.ts'
import { batchesOf } from '../platform/batches.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Attempt } from '../platform/jobs/define-job.ts'
import type { Turn } from '../transcripts/turn.ts'
import type { AlignmentDeps } from './deps.ts'
import type { CaseResult } from './measure.ts'
import { chooseExamples } from './proposals/examples.ts'
import { excerptAround, redacted } from './proposals/excerpt.ts'
import { chooseNotes, fewestNotes, guidelinesPrompt, type Note, readGuidelines } from './proposals/guidelines.ts'
import { proposeCalibration, proposeThreshold } from './proposals/score.ts'
import { type AlignmentCase, listNotes, type ProposalKind, type StoredAlignment } from './queries.ts'

/** A conversation in the tuning half with the current version's result. */
export type TuningCase = AlignmentCase & { result: CaseResult & { quotedTurn: number | null } }

export type ProposalTask = {
  alignment: Pick<StoredAlignment, 'id' | 'monitorId'>
  definition: JudgeDefinition
  tuning: TuningCase[]
  attempt: Attempt
}

type Paid = { judgements: number; input: number; output: number; cost: number; isCostUnknown: boolean }

export type Proposed = {
  definition: JudgeDefinition | null
  reason: string | null
  changes: string[]
  reviewIds: string[]
  paid?: Paid
}

const nothing = (reason: string, paid?: Paid): Proposed => ({
  definition: null,
  reason,
  changes: [],
  reviewIds: [],
  ...(paid && { paid }),
})

const operators = { gte: 'at least', gt: 'more than', lte: 'at most', lt: 'less than' }

const comparedOf = (tuning: TuningCase[]) => tuning.map(({ verdict, result }) => ({ truth: verdict, result }))

const ofOutput = (definition: JudgeDefinition, output: ScoreOutput, changes: string[]): Proposed => ({
  definition: { ...definition, output },
  reason: null,
  changes,
  reviewIds: [],
})

const proposeForThreshold = ({ definition, tuning }: ProposalTask): Proposed => {
  const { output } = definition
  if (output.type !== 'score') return nothing('The judge has no score.')
  const proposed = proposeThreshold(output, comparedOf(tuning))
  if (!proposed?.decision) return nothing('No other threshold is right more often in the tuning half.')
  const { op, value } = output.affectedWhen
  const { threshold } = proposed.decision
  const before = output.decision?.calibration
    ? 'a probability'
    : `${operators[op]} ${output.decision?.threshold ?? value}`
  return ofOutput(definition, proposed, [
    `Affected when the score is ${operators[op]} ${threshold}, instead of ${before}.`,
  ])
}

const proposeForCalibration = ({ definition, tuning }: ProposalTask): Proposed => {
  const { output } = definition
  if (output.type !== 'score') return nothing('The judge has no score.')
  const proposed = proposeCalibration(output, comparedOf(tuning))
  if (!proposed?.decision?.calibration) return nothing('No calibration is right more often in the tuning half.')
  const points = proposed.decision.calibration.length
  return ofOutput(definition, proposed, [
    `Affected when the score means a probability of at least ${proposed.decision.threshold * 100}%. The probabilities are ` +
      `learned from ${tuning.length} judged conversations (${points} points).`,
  ])
}

/** The number of conversations that are read together. */
const subjectsAtOnce = 50

/** Reads transcripts one after the other, with pauses for other work. Omits conversations without a transcript. */
const eachTranscript = async (
  { db, threads }: Pick<AlignmentDeps, 'db' | 'threads'>,
  org: OrgId,
  ids: string[],
  visit: (id: string, turns: Turn[]) => void,
): Promise<void> => {
  for (const batch of batchesOf(ids, subjectsAtOnce)) {
    for (const { id, startedAt, format, unreadable } of await listSubjects(db, org, batch)) {
      const [transcript] = unreadable === null ? await listContents(db, org, [id]) : []
      if (!transcript) continue
      const hints = { startedAt, ...(format !== null && { provider: format }) }
      const turns = await readTurns(threads, org, transcript.content, hints)
      if (turns.length > 0) visit(id, turns)
      await setImmediate()
    }
  }
}

const longestExampleNote = 300

/** Returns a reviewer's note, without personal numbers and addresses. */
const noteOf = ({ comment, notes }: { comment: string | null; notes: string | null }): string =>
  [comment, notes].map((text) => text?.trim() ?? '').find((text) => text !== '') ?? ''

const proposeForExamples = async (deps: AlignmentDeps, org: OrgId, task: ProposalTask): Promise<Proposed> => {
  const { definition, tuning, alignment } = task
  const words = new Map<string, Words>()
  const ids = tuning.map(({ conversationId }) => conversationId)
  await eachTranscript(deps, org, ids, (id, turns) => {
    words.set(id, wordsOf(turns.map(contentOf).join('\n')))
  })
  const chosen = chooseExamples(
    tuning.flatMap(({ conversationId, verdict, reviewId, votes, result }) => {
      const own = words.get(conversationId)
      return own ? [{ conversationId, truth: { verdict, reviewId, votes }, result, words: own }] : []
    }),
  )
  if (chosen.length === 0) return nothing('The judge and people agree on all conversations of the tuning half.')
  const cases = new Map(tuning.map((one) => [one.conversationId, one]))
  const excerpts = new Map<string, string>()
  await eachTranscript(
    deps,
    org,
    chosen.map(({ conversationId }) => conversationId),
    (id, turns) => excerpts.set(id, excerptAround(turns, cases.get(id)?.result.quotedTurn ?? undefined)),
  )
  const reviewIds = chosen.flatMap(({ conversationId }) => cases.get(conversationId)?.reviewId ?? [])
  const notes = new Map(
    (await listNotes(deps.db, org, alignment.monitorId, reviewIds)).map((one) => [one.reviewId, noteOf(one)]),
  )
  const examples = chosen.flatMap(({ conversationId, isDisputed }): Example[] => {
    const [own, excerpt = ''] = [cases.get(conversationId), excerpts.get(conversationId)]
    if (!own || excerpt === '') return []
    const note = redacted(notes.get(own.reviewId) ?? '', longestExampleNote)
    const { reviewId, verdict: correctResult } = own
    return [{ conversationId, reviewId, correctResult, excerpt, ...(note !== '' && { note }), isDisputed }]
  })
  const disputed = examples.filter((example) => example.isDisputed).length
  const earlier = definition.examples?.length ?? 0
  return {
    definition: { ...definition, examples },
    reason: null,
    changes: [
      `Adds ${examples.length} judged conversations as examples: ${disputed} disputed ones to every request, and the nearest ` +
        'of the others.',
      ...(earlier > 0 ? [`Removes the ${earlier} examples so far.`] : []),
    ],
    reviewIds: examples.map(({ reviewId }) => reviewId),
  }
}

/** The maximum time that the request may wait. After that, it is better to retry the job. */
const patienceMs = 600_000
/** The delay before retrying a failed endpoint that does not specify one. */
const againAfterSeconds = 60
/** If the response is invalid, the request is repeated once. */
const mostRequests = 2
/** The maximum number of guidelines in a definition. */
const mostGuidelines = 20

const stopOf = (error: EndpointError): Stop => {
  const afterSeconds = Math.ceil(error.retryAfterMs / 1_000) || againAfterSeconds
  if (isNotSentYet(error)) return { kind: 'later', afterSeconds }
  if (error.kind === 'refused')
    return { kind: 'over', failure: `The model endpoint rejects the request: ${error.message}.` }
  return { kind: 'wait', afterSeconds, failure: `The model endpoint is not responding: ${error.message}.` }
}

type GuidelinesAnswer = { rules: string[] | undefined; paid: Paid } | Stop

/** Asks the model for guidelines. Also returns the cost of invalid responses. */
const askForGuidelines = async (
  { models, clock }: AlignmentDeps,
  org: OrgId,
  { definition, attempt }: ProposalTask,
  prompt: ModelPrompt,
): Promise<GuidelinesAnswer> => {
  const chain = await models.find(org, definition.model)
  if ('fault' in chain) return { kind: 'over', failure: chain.fault }
  const now = () => clock.now().getTime()
  const ask = openChain(chain, now)
  const paid: Paid = { judgements: 0, input: 0, output: 0, cost: 0, isCostUnknown: false }
  for (let request = 1; request <= mostRequests; request++) {
    const terms = { signal: attempt.signal, deadline: now() + patienceMs, owner: org, background: true }
    const answered = await ask(prompt, terms).catch((error: unknown) => {
      // This must not throw, so that the cost of earlier requests is stored.
      if (error instanceof EndpointError && paid.judgements > 0) return undefined
      throw error
    })
    if (!answered) break
    const { reply, link } = answered
    const cost = link.costOf(reply?.tokens ?? null)
    paid.judgements += reply?.tokens ? 1 : 0
    paid.input += reply?.tokens?.input ?? 0
    paid.output += reply?.tokens?.output ?? 0
    paid.cost += cost ?? 0
    paid.isCostUnknown ||= reply?.tokens != null && cost === null
    const rules = reply?.end === 'whole' ? readGuidelines(reply.text) : undefined
    if (rules) return { rules, paid }
  }
  return { rules: undefined, paid }
}

const proposeForGuidelines = async (deps: AlignmentDeps, org: OrgId, task: ProposalTask): Promise<Proposed | Stop> => {
  const { alignment, definition, tuning } = task
  const written = await listNotes(
    deps.db,
    org,
    alignment.monitorId,
    tuning.map(({ reviewId }) => reviewId),
  )
  const texts = new Map(written.map((one) => [one.reviewId, noteOf(one)]))
  const notes = chooseNotes(
    tuning.map(
      ({ reviewId, verdict, result }): Note => ({ reviewId, text: texts.get(reviewId) ?? '', verdict, result }),
    ),
  )
  if (notes.length < fewestNotes) return nothing('Fewer than three reviews of the tuning half have notes.')
  const { budgetLeft } = await getSpending(deps.db, org, monthOf(deps.clock.now()))
  if (budgetLeft === 0) return overBudget
  const own = (definition.guidelines ?? []).filter(({ alignmentId }) => alignmentId === undefined)
  try {
    const prompt = guidelinesPrompt({ criteria: definition.criteria, guidelines: own, notes })
    const answered = await askForGuidelines(deps, org, task, prompt)
    if ('kind' in answered) return answered
    const { rules, paid } = answered
    if (!rules) return nothing('The model twice returned no guidelines in the right format.', paid)
    if (rules.length === 0) return nothing('The model found no guidelines in the notes.', paid)
    const added = rules.map((text) => ({ text, alignmentId: alignment.id }))
    const earlier = (definition.guidelines?.length ?? 0) - own.length
    return {
      definition: { ...definition, guidelines: [...own, ...added].slice(0, mostGuidelines) },
      reason: null,
      changes: [
        ...rules.map((rule) => `Adds a guideline: ${rule}`),
        ...(earlier > 0 ? [`Removes ${earlier} guidelines of earlier alignments.`] : []),
      ],
      reviewIds: notes.map(({ reviewId }) => reviewId),
      paid,
    }
  } catch (error) {
    if (error instanceof EndpointError) return stopOf(error)
    throw error
  }
}

/** Creates a proposal, or returns the reason why there is none yet. */
export const propose = async (
  deps: AlignmentDeps,
  org: OrgId,
  kind: ProposalKind,
  task: ProposalTask,
): Promise<Proposed | Stop> => {
  switch (kind) {
    case 'threshold':
      return proposeForThreshold(task)
    case 'calibration':
      return proposeForCalibration(task)
    case 'examples':
      return proposeForExamples(deps, org, task)
    case 'guidelines':
      return proposeForGuidelines(deps, org, task)
  }
}
