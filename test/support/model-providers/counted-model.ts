// Simulates a model that counts tokens like a real one.
import { Tiktoken } from 'js-tiktoken/lite'
import encoding from 'js-tiktoken/ranks/o200k_base'
import type { Answering } from './stand-ins.ts'

const tokenizer = new Tiktoken(encoding)

const counts = new Map<string, number>()

/** Counts the tokens in text. Instructions are the same in many requests, so counts are kept. */
const countTokens = (text: string): number => {
  const known = counts.get(text)
  if (known !== undefined) return known
  const count = tokenizer.encode(text, [], []).length
  counts.set(text, count)
  return count
}

const sentences = [
  'The customer asks to move the appointment, and the agent looks up the open times before it answers.',
  'Nothing in the transcript suggests that the agent was impolite; it thanks the customer twice.',
  'The agent repeats the same question after the customer has already answered it.',
  'At the end, both confirm the new time, so there is no open request left.',
]

/** Returns a value from 0 to 1 that is always the same for this text. */
const fractionOf = (text: string): number => {
  let hash = 2_166_136_261
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619)
  return (hash >>> 0) / 2 ** 32
}

type Habits = {
  /** The ratio of the model's tokens to those of the usual tokenizer. */
  inputFactor?: number
  /** The tokens of the model's thoughts before each answer. */
  thoughts?: number
  /** Whether the system message comes from a cache, except in the first request. */
  caches?: boolean
}

/** Answers as a judge, with a few sentences and quotes, and reports the tokens of the request and of the answer. */
export const answerCounting = ({ inputFactor = 1, thoughts = 0, caches = false }: Habits = {}): Answering => {
  return ({ system, user, schema }, number) => {
    const [, line] = /<transcript>\n(.*)\n/.exec(user) ?? []
    const { turn, text } = JSON.parse(line ?? '{"turn":0,"text":""}') as { turn: number; text: string }
    const fraction = fractionOf(user)
    const reasoning = sentences.slice(0, 1 + Math.floor(fraction * sentences.length)).join(' ')
    const quotes = Array.from({ length: 1 + Math.floor(fraction * 3) }, () => ({ turn, quote: text.slice(0, 120) }))
    const answer = JSON.stringify({ evidence: quotes, reasoning, score: null, result: 'not_affected' })
    const ofSystem = Math.round(countTokens(system) * inputFactor)
    const rest = Math.round((countTokens(user) + countTokens(JSON.stringify(schema))) * inputFactor)
    const cachedInput = caches && number > 1 ? ofSystem : 0
    return {
      text: answer,
      usage: {
        input: ofSystem + rest,
        output: countTokens(answer) + Math.round(thoughts * (0.5 + fraction)),
        cachedInput,
        cacheWrite: caches && number === 1 ? ofSystem : 0,
      },
    }
  }
}
