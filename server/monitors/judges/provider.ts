import type { Tokens } from './definition.ts'
import type { JudgePrompt } from './prompt.ts'

/** Writes requests for one kind of endpoint, and reads its responses. */
export type Dialect = {
  url: (base: string) => URL
  headers: (apiKey: string | undefined) => Record<string, string>
  body: (model: string, prompt: JudgePrompt) => object
  /** Returns undefined if the response does not have the format of this kind of endpoint. */
  read: (body: unknown) => ModelReply | undefined
}

/** `cut` means that the endpoint ended the text before the model did. */
export type ModelReply = { text: string; end: 'whole' | 'cut' | 'refused'; tokens: Tokens | null }

/** The largest number that the column can store. */
const mostTokens = 2 ** 31 - 1

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0

export const readTokens = (input: unknown, output: unknown): Tokens | null =>
  isCount(input) && isCount(output)
    ? { input: Math.min(input, mostTokens), output: Math.min(output, mostTokens) }
    : null

/** Returns a path below the base URL. Keeps the query string of the base URL. */
export const below = (base: string, path: string): URL => {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  return url
}
