import type { Tokens } from './definition.ts'
import type { JudgePrompt } from './prompt.ts'

/** How to send requests to one kind of endpoint, and read its responses. */
export type Dialect = {
  url: (base: string) => URL
  headers: (apiKey: string | undefined) => Record<string, string>
  body: (model: string, prompt: JudgePrompt) => object
  /** Undefined if the response has another format than this kind of endpoint. */
  read: (body: unknown) => ModelReply | undefined
}

/** `cut`: the endpoint ended the text before the model did. */
export type ModelReply = { text: string; end: 'whole' | 'cut' | 'refused'; tokens: Tokens | null }

/** The maximum error text: the size of its column. */
const mostTokens = 2 ** 31 - 1

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0

export const readTokens = (input: unknown, output: unknown): Tokens | null =>
  isCount(input) && isCount(output)
    ? { input: Math.min(input, mostTokens), output: Math.min(output, mostTokens) }
    : null

/** A path below the base URL, which keeps its query string. */
export const below = (base: string, path: string): URL => {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  return url
}
