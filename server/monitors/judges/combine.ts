import { isOpen, mostCategories, notApplicable, other } from '../../filters/category.ts'
import { type JudgeVerdict, longestReasoning } from './answer.ts'
import { decideByCategories } from './categories.ts'
import {
  type CategoryOutput,
  type ExtractOutput,
  type Field,
  type FieldValue,
  type FieldValues,
  type JudgeDefinition,
  type JudgeResult,
  mostAffected,
  type ScoreRule,
  type Tokens,
} from './definition.ts'
import type { Evidence } from './evidence.ts'
import { storable } from './text.ts'

type Failed = { status: 'failed'; reason: string; retryAfterSeconds?: number; isNotSentYet?: boolean }

/** A monitor during a judgment: a result for each window so far, and the cost. */
export type JudgedDefinition = {
  definition: JudgeDefinition
  verdicts: (JudgeVerdict | Failed)[]
  tokens: Tokens | null
  /** In US dollars. Null if nothing was paid yet, or if a price is unknown. */
  cost: number | null
}

type Verdict = JudgeVerdict | Failed
type Scored = Extract<JudgeVerdict, { status: 'scored' }>

const isScored = (verdict: Verdict): verdict is Scored => verdict.status === 'scored'
const isFailed = (verdict: Verdict): verdict is Failed => verdict.status === 'failed'

/** Returns whether the result is final, so that no further window has to be paid for. */
export const isSettled = ({ definition: { output }, verdicts }: JudgedDefinition): boolean => {
  const isOfOneWindow = output.type === 'boolean' || (output.type === 'category' && !output.multiple)
  return verdicts.some(isFailed) || (isOfOneWindow && isAnyAffected(verdicts))
}

const isAnyAffected = (verdicts: Verdict[]): boolean =>
  verdicts.some((verdict) => isScored(verdict) && verdict.result === 'affected')

type CombinedVerdict = Pick<
  JudgeResult,
  | 'status'
  | 'result'
  | 'score'
  | 'reasoning'
  | 'evidence'
  | 'categories'
  | 'fields'
  | 'unsupportedFields'
  | 'reason'
  | 'retryAfterSeconds'
  | 'isNotSentYet'
>

const nothing = { result: null, score: null, categories: null, fields: null, unsupportedFields: [] }

const mostEvidence = 10
const mostEvidenceOfFields = 100

const evidenceOf = (verdicts: JudgeVerdict[], most = mostEvidence): Evidence[] =>
  verdicts.flatMap(({ evidence }) => evidence).slice(0, most)

const joinReasonings = (verdicts: JudgeVerdict[]): string => {
  const [only, ...others] = verdicts
  if (only && others.length === 0) return only.reasoning ?? ''
  // Each window gets an equal share, so that the last window is included.
  const share = Math.floor(longestReasoning / verdicts.length) - 12
  return verdicts.map(({ reasoning }, at) => `Part ${at + 1}: ${storable(reasoning ?? '', share)}`).join('\n')
}

const failedAs = (failed: Failed): CombinedVerdict => ({ ...nothing, ...failed, reasoning: null, evidence: [] })

/**
 * Combines the results of all windows. One affected window is sufficient for affected, but not affected requires all of
 * them. If there are several scores, the one closest to affected counts.
 */
const combineVerdicts = (rule: ScoreRule | undefined, verdicts: Verdict[]): CombinedVerdict => {
  const scored = verdicts.filter(isScored)
  const scores = scored.flatMap(({ score }) => (score === null ? [] : [score]))
  const extreme = rule && scores.length > 0 ? mostAffected(rule, scores) : null
  const affected = scored.find(({ result, score }) => result === 'affected' && score === extreme)
  const failed = verdicts.find(isFailed)
  // The most extreme score is only known if every window has a score.
  if (affected && (!rule || !failed)) return { ...nothing, ...affected }
  if (failed) return failedAs(failed)
  const unscored = verdicts.find((verdict) => verdict.status === 'unscored')
  if (unscored) return { ...nothing, ...unscored }
  return {
    ...nothing,
    status: 'scored',
    result: 'not_affected',
    score: extreme,
    reasoning: joinReasonings(scored),
    evidence: evidenceOf(scored),
  }
}

const isAffectedBy = (output: CategoryOutput, categories: string[]): boolean => {
  const decided = decideByCategories(output, categories)
  return decided.status === 'scored' && decided.result === 'affected'
}

/** Returns the category of the first affected window, or otherwise of the first window that a category fits. */
const oneCategory = (output: CategoryOutput, named: string[][]): string[] | undefined => {
  const fitting = named.filter((categories) => !isOpen(categories))
  return (
    fitting.find((categories) => isAffectedBy(output, categories)) ??
    fitting[0] ??
    named.find((categories) => categories.includes(other)) ??
    named[0]
  )
}

/** Returns the categories of all windows together. A window to which the criteria do not apply adds none. */
const allCategories = (named: string[][]): string[] | undefined => {
  const applicable = named.filter((categories) => !categories.includes(notApplicable))
  if (applicable.length === 0) return named[0]
  return [...new Set(applicable.flat())].slice(0, mostCategories)
}

/**
 * Combines categories. If only one category can apply, a window without a decision is ignored as soon as another window
 * has a category. If several can apply, it is not ignored, because it may have an affected one.
 */
const combineCategories = (output: CategoryOutput, verdicts: Verdict[]): CombinedVerdict => {
  const failed = verdicts.find(isFailed)
  if (failed && (output.multiple || !isAnyAffected(verdicts))) return failedAs(failed)
  const answered = verdicts.filter((verdict) => !isFailed(verdict))
  const named = answered.flatMap(({ categories }) => (categories ? [categories] : []))
  const categories = output.multiple ? allCategories(named) : oneCategory(output, named)
  const undecided = answered.find((verdict) => verdict.status === 'unscored' && verdict.categories === undefined)
  if (categories === undefined) {
    if (!undecided) throw new Error('A judgment needs the verdict of a window.')
    return { ...nothing, ...undecided }
  }
  const deciding = answered.filter((verdict) => verdict.categories?.some((key) => categories.includes(key)))
  const from = deciding.length > 0 ? deciding : answered
  const details = { ...nothing, categories, reasoning: joinReasonings(from), evidence: evidenceOf(from) }
  const decided = decideByCategories(output, categories)
  if (decided.status === 'unscored') return { ...details, status: 'unscored', reason: decided.reason }
  if (output.multiple && decided.result === 'not_affected' && undecided?.status === 'unscored') {
    return { ...details, status: 'unscored', reason: undecided.reason }
  }
  return { ...details, status: 'scored', result: decided.result }
}

/**
 * Returns the value of a field across all windows, and whether it is unsupported. People correct themselves, so the
 * last window that contains a value counts. If no quote supports that value, earlier values are out of date. Lists are
 * joined, so each of them has to be supported.
 */
const combineField = ({ key, type }: Field, scored: Scored[]): { value: FieldValue; isUnsupported: boolean } => {
  const valueIn = ({ fields }: Scored): FieldValue => fields?.[key] ?? null
  const isUnsupportedIn = ({ unsupportedFields = [] }: Scored): boolean => unsupportedFields.includes(key)
  const named = scored.filter((verdict) => valueIn(verdict) !== null || isUnsupportedIn(verdict))
  const last = named.at(-1)
  const isUnsupported = last !== undefined && (type === 'list' ? named.some(isUnsupportedIn) : isUnsupportedIn(last))
  if (last === undefined || isUnsupported) return { value: null, isUnsupported }
  if (type !== 'list') return { value: valueIn(last), isUnsupported }
  const entries = named.flatMap((verdict) => [valueIn(verdict)].flat().map(String))
  return { value: [...new Set(entries)].slice(0, 100), isUnsupported }
}

/**
 * Combines fields. A condition on the fields decides whether the conversation is affected. The caller evaluates this
 * condition.
 */
const combineFields = ({ fields: known }: ExtractOutput, verdicts: Verdict[]): CombinedVerdict => {
  const failed = verdicts.find(isFailed)
  if (failed) return failedAs(failed)
  const answered = verdicts.filter((verdict) => !isFailed(verdict))
  const scored = answered.filter(isScored)
  const [unscored] = answered.filter((verdict) => verdict.status === 'unscored')
  if (scored.length === 0 && unscored) return { ...nothing, ...unscored }
  const fields: FieldValues = {}
  const unsupportedFields: string[] = []
  for (const field of known) {
    const { value, isUnsupported } = combineField(field, scored)
    fields[field.key] = value
    if (isUnsupported) unsupportedFields.push(field.key)
  }
  const details = {
    ...nothing,
    fields,
    unsupportedFields,
    reasoning: joinReasonings(scored),
    evidence: evidenceOf(scored, mostEvidenceOfFields),
  }
  const missing = known.filter(({ key, required }) => required === true && fields[key] === null)
  if (missing.length === 0) return { ...details, status: 'scored', result: 'not_affected' }
  const names = missing.map(({ key }) => key).join(', ')
  return { ...details, status: 'unscored', reason: `the transcript does not say ${names}` }
}

export const combine = ({ definition: { output }, verdicts }: JudgedDefinition): CombinedVerdict => {
  if (output.type === 'category') return combineCategories(output, verdicts)
  if (output.type === 'extract') return combineFields(output, verdicts)
  return combineVerdicts(output.type === 'score' ? output.affectedWhen : undefined, verdicts)
}
