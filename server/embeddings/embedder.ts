// Embeds texts with the organization's model: the built-in models, or the model of a provider.

import type { Models } from '../model-providers/models.ts'
import { EndpointError } from '../model-providers/requests/endpoint-error.ts'
import { monthOf } from '../organizations/spending/month.ts'
import { addSpending, getSpending } from '../organizations/spending/queries.ts'
import { batchesOf } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Embedded, Embedder, EmbeddingTerms } from '../platform/embedder.ts'
import { ApiError } from '../platform/errors.ts'
import { mapWithPauses } from '../platform/map-with-pauses.ts'
import { openEncoder } from './encoder/run-encoder.ts'
import { numberOf } from './model-numbers.ts'
import { findModelName } from './queries.ts'
import { project } from './vectors.ts'

type EmbedderDeps = { db: Db; models: Models; clock: Clock; config: Config }

/** The number of texts in a request to a provider. */
const textsAtOnce = 100
/** The maximum length of a text. Models refuse texts that are much longer. */
const longestText = 2_000
/** The maximum time that a request waits for its turn. */
const patienceMs = { background: 120_000, query: 10_000 }

const disabled = () => new ApiError('unavailable', 'Search by meaning is disabled on this server.')

/** Throws if the monthly budget is used up. */
const requireBudget = async ({ db, clock }: EmbedderDeps, org: OrgId): Promise<void> => {
  const { budgetLeft } = await getSpending(db, org, monthOf(clock.now()))
  if (budgetLeft === null || budgetLeft > 0) return
  throw new EndpointError('limited', 'the monthly judge budget is used up')
}

const someTokens = { input: 1_000, output: 0, cachedInput: 0, cacheWrite: 0 }

const findEmbedding = async ({ models }: EmbedderDeps, org: OrgId, name: string) => {
  const chain = await models.find(org, name)
  if ('fault' in chain) throw new EndpointError('changed', chain.fault)
  const [{ embedding, costOf }] = chain.links
  // If the provider is disabled, the first link of the chain is a fallback, and its vectors are different.
  if (!embedding || chain.key !== embedding.name) {
    throw new EndpointError('changed', 'the model provider is disabled, or cannot embed texts')
  }
  return { embedding, costOf }
}

/** Shortens a text without splitting a surrogate pair. */
const shorten = (text: string): string => text.slice(0, longestText).toWellFormed()

const embedWithProvider = async (
  deps: EmbedderDeps,
  org: OrgId,
  { name, texts }: { name: string; texts: string[] },
  { signal, background }: EmbeddingTerms,
): Promise<Embedded[]> => {
  const model = await numberOf(deps.db, org, name)
  const { embedding, costOf } = await findEmbedding(deps, org, name)
  const vectors: number[][] = []
  for (const some of batchesOf(texts, textsAtOnce)) {
    // Models without a price don't use the budget.
    if ((costOf(someTokens) ?? 0) > 0) await requireBudget(deps, org)
    const deadline = deps.clock.now().getTime() + (background ? patienceMs.background : patienceMs.query)
    const reply = await embedding.embed(some.map(shorten), { signal, deadline, owner: org, background })
    if (!reply) throw new EndpointError('down', 'the endpoint returned no vectors')
    // The provider charges for the request, even if another attempt has taken over the job.
    const { input = 0 } = reply.tokens ?? {}
    const spent = { judgements: 0, input, output: 0, cost: costOf(reply.tokens) ?? 0 }
    await addSpending(deps.db, org, monthOf(deps.clock.now()), spent)
    vectors.push(...reply.vectors)
  }
  return (await mapWithPauses(vectors, project)).map((vector) => ({ model, vector }))
}

export const openEmbedder = (deps: EmbedderDeps): Embedder & { close: () => Promise<void> } => {
  const queries = openEncoder({ isBackground: false })
  const background = openEncoder({ isBackground: true })
  return {
    embed: async (org, texts, terms) => {
      if (!deps.config.embeddings) throw disabled()
      if (texts.length === 0) return []
      const name = await findModelName(deps.db, org)
      if (name !== null) return embedWithProvider(deps, org, { name, texts }, terms)
      return (terms.background ? background : queries).encode(org, texts, terms.signal)
    },
    close: async () => {
      await Promise.all([queries.close(), background.close()])
    },
  }
}
