// The embeddings API of OpenAI, compatible endpoints, and Azure:
// https://platform.openai.com/docs/api-reference/embeddings/create
import { type EmbeddingOptions, type EmbeddingReply, type HttpRequest, postJson, readTokens } from './dialect.ts'

export const postTexts = (url: URL, headers: Record<string, string>, { model, texts }: EmbeddingOptions): HttpRequest =>
  postJson(url, headers, { model, input: texts, encoding_format: 'float' })

type Entry = { index?: unknown; embedding?: unknown } | null

const isVector = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((number) => typeof number === 'number' && Number.isFinite(number))

/** Reads the vectors in the order of the texts. Endpoints may return them in another order. */
export const readEmbeddings = (body: unknown): EmbeddingReply | undefined => {
  const { data, usage } = Object(body) as { data?: unknown; usage?: { prompt_tokens?: unknown } | null }
  if (!Array.isArray(data)) return undefined
  const byIndex = new Map<unknown, number[]>()
  for (const [position, entry] of (data as Entry[]).entries()) {
    const { index = position, embedding } = entry ?? {}
    if (byIndex.has(index) || !isVector(embedding)) return undefined
    byIndex.set(index, embedding)
  }
  // Each index occurs exactly once.
  const vectors = data.flatMap((_, index) => [byIndex.get(index)].filter((vector) => vector !== undefined))
  if (vectors.length !== data.length || vectors.some((vector) => vector.length !== vectors[0]?.length)) return undefined
  return { vectors, tokens: readTokens({ input: usage?.prompt_tokens, output: 0 }) }
}
