// Keeps the reviewer's answers so far, and determines which ones are still missing.

import type { Schemas } from '../api/schema.d.ts'
import type { Judged, Result, Review } from './queries.ts'

export type Answer = { correctResult: Judged | undefined; comment: string }

export type Answers = {
  judged: Record<string, Answer>
  notes: string
  rating: number | null
}

const unanswered: Answer = { correctResult: undefined, comment: '' }

export const answerTo = ({ judged }: Answers, monitorId: string): Answer => judged[monitorId] ?? unanswered

/** Returns the saved answers, which are loaded with the conversation. */
export const answersOf = ({ judgments, notes, rating }: Review): Answers => ({
  judged: Object.fromEntries(
    judgments.map(({ monitorId, correctResult, comment }) => [monitorId, { correctResult, comment: comment ?? '' }]),
  ),
  notes: notes ?? '',
  rating,
})

/** Converts the answers to the API's format. */
export const changeOf = ({ judged, notes, rating }: Answers, monitorIds: string[]) => ({
  rating,
  notes: notes.trim() === '' ? null : notes,
  judgments: monitorIds.flatMap((monitorId) => {
    const { correctResult, comment } = judged[monitorId] ?? unanswered
    return correctResult ? [{ monitorId, correctResult, comment: comment.trim() === '' ? null : comment }] : []
  }),
})

export const isEmpty = ({ rating, notes, judgments }: ReturnType<typeof changeOf>): boolean =>
  rating === null && notes === null && judgments.length === 0

export const resultLabels: Record<Judged, string> = {
  affected: 'Affected',
  not_affected: 'Not affected',
  unsure: 'Unsure',
}

/** Returns whether an answer agrees with a result, or undefined if there is nothing to compare. */
export const agrees = (answer: Judged | undefined, found: Result | undefined): boolean | undefined =>
  answer === undefined || answer === 'unsure' || !found?.result ? undefined : answer === found.result

type Bucket = Schemas['Bucket']

/** Returns whether the bucket requires a note with this judgment. */
export const requiresNote = (
  bucket: Bucket,
  answers: Answers,
  monitorId: string,
  found: Result | undefined,
): boolean => {
  const { correctResult, comment } = answerTo(answers, monitorId)
  if (!bucket.noteOnDisagreement || correctResult === undefined) return false
  if (comment.trim() !== '' || answers.notes.trim() !== '') return false
  return bucket.blind || agrees(correctResult, found) === false
}

/** Returns a sentence on how the review compares with the monitors' results. */
export const describeAgreement = (answers: Answers, found: Result[], nameOf: (id: string) => string): string => {
  const compared = Object.entries(answers.judged).flatMap(([monitorId, { correctResult }]) => {
    const result = found.find((one) => one.monitorId === monitorId)
    const same = agrees(correctResult, result)
    return same === undefined ? [] : [{ monitorId, same, result }]
  })
  if (compared.length === 0) return 'Review completed.'
  const others = compared.filter(({ same }) => !same)
  if (others.length === 0)
    return compared.length === 1
      ? 'Review completed. You agree with the monitor.'
      : 'Review completed. You agree with the monitors.'
  const words = others.map(
    ({ monitorId, result }) => `${nameOf(monitorId)}: ${result?.result === 'affected' ? 'affected' : 'not affected'}`,
  )
  return `Review completed. You disagree with the monitor on ${words.join('; ')}.`
}
