import type { Tokens } from './definition.ts'
import type { Prompt } from './prompt.ts'

/** How one kind of endpoint is asked, and how its answer is read. */
export type Dialect = {
  url: (base: string) => URL
  headers: (apiKey: string | undefined) => Record<string, string>
  body: (model: string, prompt: Prompt) => object
  /** Undefined when the answer is not in the form that this kind of endpoint sends. */
  read: (body: unknown) => Reply | undefined
}

/** `cut`: the endpoint ended the text before the model did. */
export type Reply = { text: string; end: 'whole' | 'cut' | 'refused'; tokens: Tokens | null }

/** The most that is kept of a request: what its column holds. */
const mostTokens = 2 ** 31 - 1

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0

export const readTokens = (input: unknown, output: unknown): Tokens | null =>
  isCount(input) && isCount(output)
    ? { input: Math.min(input, mostTokens), output: Math.min(output, mostTokens) }
    : null

/** A path below the base, whose query string stays. */
export const below = (base: string, path: string): URL => {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  return url
}
