// Decides whether a conversation is affected, based on the fields that a judge has extracted.

import type { JudgeDefinition, JudgeResult } from '../monitors/judges/definition.ts'
import { outcomes } from '../monitors/rules/outcome.ts'
import type { EvaluationDeps } from './deps.ts'

type Task = { owner: string; definition: JudgeDefinition; signal?: AbortSignal }

const isRead = (condition: string, key: string): boolean => new RegExp(`\\b${key}\\b`).test(condition)

/**
 * Evaluates an extraction's condition in the same threads as rules. A field with an unsupported value counts as neither
 * present nor missing, so a condition that reads it has no answer.
 */
export const decideByFields = async (
  { rules }: Pick<EvaluationDeps, 'rules'>,
  { owner, definition: { output }, signal }: Task,
  result: JudgeResult,
): Promise<JudgeResult> => {
  const { status, fields, unsupportedFields } = result
  if (output.type !== 'extract' || output.affectedWhen === undefined || status !== 'scored') return result
  const { affectedWhen: expression } = output
  const undecided = (state: 'unscored' | 'failed', reason: string): JudgeResult => ({
    ...result,
    status: state,
    result: null,
    reason,
  })
  const unsupported = unsupportedFields.find((key) => isRead(expression, key))
  if (unsupported !== undefined) {
    return undecided('unscored', `the model named a value of ${unsupported} that the quoted turn does not contain`)
  }
  const answers = await rules.evaluate(
    {
      owner,
      rules: [{ expression, over: 'fields' }],
      subjects: [{ facts: JSON.stringify({ fields }), transcript: null, unreadable: null }],
    },
    signal,
  )
  const answer = answers.results[0]
  const reason = answers.notes.get(0)?.reason ?? 'the condition could not be evaluated'
  if (answer === outcomes.unscored) return undecided('unscored', reason)
  if (answer !== outcomes.affected && answer !== outcomes.notAffected) return undecided('failed', reason)
  return { ...result, result: answer === outcomes.affected ? 'affected' : 'not_affected' }
}
