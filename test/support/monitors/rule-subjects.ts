import { type Evidence, outcomes } from '../../../server/monitors/rules/outcome.ts'
import type { RuleAnswers, RuleSubject, Rules } from '../../../server/monitors/rules/rules.ts'
import { readTranscript } from '../../../server/transcripts/read-transcript.ts'
import { noSignals } from '../../../server/transcripts/signals/signals.ts'
import { computeSignals } from '../signals.ts'

/** A small conversation for tests, as the database would return it. */

export type SubjectFields = {
  conversation?: object
  metadata?: object
  metrics?: object
  /** Further signals, besides those computed from the turns. */
  signals?: object
  /**
   * Each turn is a string such as `agent: Hello`, or an object as it is sent. There is no transcript if this is
   * undefined.
   */
  turns?: (string | object)[]
  unreadable?: string
}

const turnOf = (line: string | object) => {
  if (typeof line === 'object') return line
  const [role, ...text] = line.split(': ')
  return { role, text: text.join(': ') }
}

export const subjectOf = ({
  conversation,
  metadata = {},
  metrics = {},
  signals,
  turns,
  unreadable,
}: SubjectFields): RuleSubject => {
  const content = turns?.map(turnOf)
  const reading = content && readTranscript(content)
  if (reading && 'unreadable' in reading && unreadable === undefined) throw new Error(reading.unreadable)
  const measured = reading && 'turns' in reading ? computeSignals(reading.turns) : noSignals
  return {
    facts: JSON.stringify({
      conversation: { channel: 'call', startedAt: '2026-11-20T10:00:00.000Z', ...conversation },
      metadata,
      metrics,
      signals: { ...measured, ...signals },
    }),
    transcript: content ? { content: JSON.stringify(content), format: 'turns' } : null,
    unreadable: unreadable ?? null,
  }
}

const words = Object.fromEntries(Object.entries(outcomes).map(([word, result]) => [result, word]))

/** The outcome of each rule for each conversation, with its notes. */
type Answer = { is: string | undefined; reason?: string; evidence?: Evidence[] }
export const answersOf = ({ results, notes }: RuleAnswers): Answer[] =>
  [...results].map((result, at) => ({ is: words[result], ...notes.get(at) }))

/** Evaluates one rule on one conversation. */
export const evaluateRule = async (rules: Rules, expression: string, told: SubjectFields, score?: string) => {
  const answers = await rules.evaluate({ rules: [{ expression, score }], subjects: [subjectOf(told)] })
  const [answer = { is: undefined }] = answersOf(answers)
  return { ...answer, score: answers.scores[0] }
}
