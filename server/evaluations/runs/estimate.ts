import type { JudgeDefinition, Tokens } from '../../monitors/judges/definition.ts'
import type { Forecaster } from '../../monitors/judges/judge.ts'
import type { StoredMonitor } from '../../monitors/queries.ts'
import { monthOf } from '../../organizations/spending/month.ts'
import { getSpending } from '../../organizations/spending/queries.ts'
import type { OrgId } from '../../platform/db/database.ts'
import { mapWithPauses } from '../../platform/map-with-pauses.ts'
import type { Turn } from '../../transcripts/turn.ts'
import type { EvaluationDeps } from '../deps.ts'
import { turnsOf } from '../judge-conversation.ts'
import { listContents } from '../queries.ts'
import {
  type Extent,
  findMeanTokens,
  listPaidResults,
  listSample,
  measurePopulation,
  type PaidResult,
  type ResolvedPopulation,
  type SampledTranscript,
} from './queries.ts'

/** If the version has fewer earlier results than this, a sample of the transcripts gives a better estimate. */
const enoughResults = 20

/** The number of transcripts to read for an estimate. */
const sampleSize = 40

/** The maximum number of characters of transcripts in memory at once. */
const mostCharacters = 8 * 1024 * 1024

/** With fewer paid answers, too little is known about the model's answers. */
const enoughPaid = 5

/** The tokens in an answer if nothing is known about the model. Reasoning and quotes are usually short. */
const usualAnswerTokens = 200

type Estimate = { tokens: Tokens; cost: number | null }

const sumOf = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((sum, item) => sum + pick(item), 0)

/** Returns as many of the first transcripts as may be in memory at once, but at least one. */
export const boundSample = <T extends Pick<SampledTranscript, 'characters'>>(listed: readonly T[]): T[] => {
  let characters = 0
  return listed.filter((one, at) => {
    characters += one.characters
    return at === 0 || characters <= mostCharacters
  })
}

/** Reads the first transcripts, and calls `use` for each readable one, with pauses for other work. */
const withTurns = async <T extends SampledTranscript, R>(
  { db }: EvaluationDeps,
  org: OrgId,
  all: T[],
  use: (one: T, turns: Turn[]) => R,
): Promise<R[]> => {
  const listed = boundSample(all)
  const contents = await listContents(
    db,
    org,
    listed.map(({ id }) => id),
  )
  const contentOf = new Map(contents.map(({ id, content }) => [id, content]))
  const made = await mapWithPauses(listed, (one) => {
    const content = contentOf.get(one.id)
    const turns = content === undefined ? undefined : turnsOf(one, content)
    return Array.isArray(turns) ? [use(one, turns)] : []
  })
  return made.flat()
}

/** The deviation of a model's requests from the forecast. */
type Habits = {
  /** The input tokens that the model counted, relative to the estimate. */
  inputFactor: number
  /** Returns the total tokens of all answers. */
  outputOf: (expected: { judgements: number; requests: number }) => number
  /** The amount paid, relative to the price without a cache. */
  costFactor: number
}

/** Compares earlier results of the same model, from any judge, with their forecast. */
const findHabits = async (
  deps: EvaluationDeps,
  org: OrgId,
  { evaluator, forecast, costOf }: Forecaster,
  usual: Habits,
): Promise<Habits> => {
  const paid = await listPaidResults(deps.db, org, evaluator)
  const compared = await withTurns(deps, org, paid, (one: PaidResult, turns) => {
    // Definitions were validated for their kind when they were stored.
    return { ...one, expected: forecast(one.definition as JudgeDefinition, turns) }
  })
  const known = compared.filter(({ expected }) => expected.requests > 0)
  if (known.length < enoughPaid) return usual
  const priced = known.flatMap(({ input, output, cost }) => {
    const full = costOf({ input, output })
    return cost === null || full === null ? [] : [{ cost, full }]
  })
  const full = sumOf(priced, (one) => one.full)
  const answerTokens = sumOf(known, ({ output }) => output) / sumOf(known, ({ expected }) => expected.requests)
  return {
    inputFactor: sumOf(known, ({ input }) => input) / sumOf(known, ({ expected }) => expected.input),
    outputOf: ({ requests }) => requests * answerTokens,
    costFactor: full > 0 ? sumOf(priced, ({ cost }) => cost) / full : 1,
  }
}

/**
 * Estimates the number of tokens for all transcripts from a sample. All lengths are known, so only the ratio of tokens
 * to characters comes from the sample.
 */
const expectTokens = async (
  deps: EvaluationDeps,
  org: OrgId,
  { monitor, population, extent, forecaster }: EstimateTask,
): Promise<{ input: number; audioInput: number; judgements: number; requests: number }> => {
  const { readable, characters } = extent
  const definition = monitor.definition as JudgeDefinition
  const { emptyTokens, forecast } = forecaster
  const percent = Math.min(100, (100 * sampleSize) / Math.max(1, readable))
  const version = { id: monitor.id, version: monitor.number }
  const listed = await listSample(deps.db, org, population, { ...version, percent, most: 2 * sampleSize })
  // The sample of a small population may be empty. In that case, takes all of its conversations.
  const some =
    listed.length > 0 || percent === 100
      ? listed
      : await listSample(deps.db, org, population, { ...version, percent: 100, most: sampleSize })
  const sample = await withTurns(deps, org, some, ({ characters: length }, turns) => {
    return { length, ...forecast(definition, turns) }
  })
  if (sample.length === 0) return { input: 0, audioInput: 0, judgements: 0, requests: 0 }
  const asked = sample.filter(({ requests }) => requests > 0).length
  const ofSound = sumOf(sample, (one) => one.audioInput)
  const ofTranscripts = sumOf(sample, ({ input }) => input) - ofSound - asked * emptyTokens
  const length = sumOf(sample, (one) => one.length)
  const judgements = (readable * asked) / sample.length
  const audioInput = (readable * ofSound) / sample.length
  return {
    input: judgements * emptyTokens + (length > 0 ? (characters * ofTranscripts) / length : 0) + audioInput,
    audioInput,
    judgements,
    requests: (readable * sumOf(sample, ({ requests }) => requests)) / sample.length,
  }
}

type EstimateTask = { monitor: StoredMonitor; population: ResolvedPopulation; extent: Extent; forecaster: Forecaster }

const estimateFromSample = async (
  deps: EvaluationDeps,
  org: OrgId,
  task: EstimateTask,
  outputOf: Habits['outputOf'],
): Promise<Estimate> => {
  const { forecaster } = task
  const habits = await findHabits(deps, org, forecaster, { inputFactor: 1, outputOf, costFactor: 1 })
  const { input, audioInput, ...expected } = await expectTokens(deps, org, task)
  const tokens = { input: Math.ceil(input * habits.inputFactor), output: Math.ceil(habits.outputOf(expected)) }
  const cost = forecaster.costOf({ ...tokens, audioInput: Math.ceil(audioInput * habits.inputFactor) })
  return { tokens, cost: cost === null ? null : cost * habits.costFactor }
}

const estimateFromResults = async (
  { db }: EvaluationDeps,
  org: OrgId,
  monitor: StoredMonitor,
  left: number,
): Promise<Estimate | undefined> => {
  const mean = await findMeanTokens(db, org, monitor.id, monitor.number)
  if (mean.judgements < enoughResults) return undefined
  const tokens = { input: Math.ceil(left * (mean.input ?? 0)), output: Math.ceil(left * (mean.output ?? 0)) }
  return { tokens, cost: mean.cost === null ? null : left * mean.cost }
}

const measure = (
  db: EvaluationDeps['db'],
  org: OrgId,
  { id, number, kind }: StoredMonitor,
  population: ResolvedPopulation,
) => measurePopulation(db, org, population, { id, version: number, isPaidByLength: kind === 'judge' })

/** Returns how many conversations a run would evaluate. */
export const countPopulation = async (
  { db }: EvaluationDeps,
  org: OrgId,
  { id, number }: StoredMonitor,
  population: ResolvedPopulation,
): Promise<number> => {
  const version = { id, version: number, isPaidByLength: false }
  return (await measurePopulation(db, org, population, version)).conversations
}

/** Estimates the tokens and the cost of a judge. */
const estimateJudge = async (
  deps: EvaluationDeps,
  org: OrgId,
  { monitor, population, extent }: Omit<EstimateTask, 'forecaster'>,
  { judgements, outputTokens }: { judgements: number; outputTokens: number },
) => {
  const known = await estimateFromResults(deps, org, monitor, extent.readable)
  const forecaster = await deps.judge.forecaster(org, monitor.definition as JudgeDefinition)
  if (known) {
    // The costs of batches don't predict the price of other requests.
    const cost = known.cost ?? forecaster?.costOf(known.tokens) ?? null
    return { tokens: known.tokens, cost, basis: 'results' as const }
  }
  if (!forecaster) return { tokens: null, cost: null, basis: 'lengths' as const }
  const task = { monitor, population, extent, forecaster }
  // This month's answers, including those in previews, are better evidence than a constant.
  const outputOf: Habits['outputOf'] = (expected) =>
    judgements >= enoughPaid ? (expected.judgements * outputTokens) / judgements : expected.requests * usualAnswerTokens
  return { ...(await estimateFromSample(deps, org, task, outputOf)), basis: 'lengths' as const }
}

/** Estimates the size of a run and the cost of a judge. */
export const estimateRun = async (
  deps: EvaluationDeps,
  org: OrgId,
  monitor: StoredMonitor,
  population: ResolvedPopulation,
) => {
  const { db, judge, clock } = deps
  const extent = await measure(db, org, monitor, population)
  const { conversations, answered } = extent
  const { budgetLeft, judgements, outputTokens } = await getSpending(db, org, monthOf(clock.now()))
  const size = { conversations, answered, budgetLeft }
  if (monitor.kind !== 'judge') return { ...size, tokens: null, cost: 0, batch: null, basis: null }
  const estimate = await estimateJudge(deps, org, { monitor, population, extent }, { judgements, outputTokens })
  const batching = await judge.batching(org, monitor.definition as JudgeDefinition)
  const costInBatch = (discount: number) => (estimate.cost === null ? null : estimate.cost * (1 - discount))
  const batch = 'fault' in batching ? null : { cost: costInBatch(batching.batches.discount) }
  return { ...size, ...estimate, batch }
}
