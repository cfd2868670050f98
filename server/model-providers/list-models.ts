import type { OrgId } from '../platform/db/database.ts'
import { mapWithPauses } from '../platform/map-with-pauses.ts'
import { diagnose } from './diagnose.ts'
import { openPrices } from './prices.ts'
import type { SealedProvider } from './queries.ts'
import type { OfferedModel } from './requests/dialect.ts'
import { EndpointError } from './requests/endpoint-error.ts'
import { shownPrice } from './shown.ts'
import { openForTest } from './try-provider.ts'

type ListDeps = Parameters<typeof openForTest>[0]

type ListedModel = OfferedModel & { price: ReturnType<typeof shownPrice> }

/** `message` is the reason if there are no models. */
type ModelList = { models: ListedModel[]; message: string | null }

const listTimeoutMs = 10_000
const keptForMs = 300_000
/** The time for which a failure is cached, so that not every request waits for an unresponsive provider. */
const failureKeptForMs = 30_000
/** The maximum number of models to list for a provider, in the provider's order. */
export const mostModels = 1_000
/** The maximum number of cached models for all providers together. */
const mostKept = 50_000
const longestName = 200

const isValidId = ({ id }: OfferedModel): boolean => /^[\x21-\x7e]{1,200}$/.test(id)

/** Copies the start of a name, because a slice would keep the whole name in memory. */
const cut = (name: string): string => Buffer.from(name.slice(0, longestName)).toString()

const arrange = (models: OfferedModel[]): OfferedModel[] => {
  const byId = new Map<string, OfferedModel>()
  for (const model of models) {
    if (byId.size >= mostModels) break
    if (isValidId(model)) byId.set(model.id, { id: model.id, name: model.name && cut(model.name) })
  }
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The version is the time of the provider's last update. */
type CachedModels = { version: number; from: number; until: number; size: number; list: Promise<ModelList> }

/**
 * Lists the models that providers offer, with prices. Caches each list for a few minutes, or until the provider
 * changes. Concurrent callers share a request, so none of them can abort it.
 */
export const openModelLists = (deps: ListDeps) => {
  const kept = new Map<string, CachedModels>()

  const request = async (org: OrgId, provider: SealedProvider): Promise<ModelList> => {
    try {
      const offered = await openForTest(deps, org, provider, listTimeoutMs).list(new AbortController().signal)
      if (!offered) {
        const message = 'Azure does not list deployments for an API key. Enter the name of your deployment.'
        return { models: [], message }
      }
      const priceOf = await openPrices(provider)
      const models = await mapWithPauses(arrange(offered), ({ id, name }) => {
        return { id, name, price: shownPrice(priceOf(id).price) }
      })
      return { models, message: null }
    } catch (error) {
      if (!(error instanceof EndpointError)) throw error
      return { models: [], message: diagnose(error, undefined).message }
    }
  }

  const isCurrent = ({ from, until }: CachedModels, now: number): boolean => now < until && now >= from

  /** Drops expired lists, and then the oldest ones until the others fit. */
  const prune = (now: number) => {
    for (const [key, one] of kept) if (!isCurrent(one, now)) kept.delete(key)
    let total = kept.values().reduce((sum, { size }) => sum + size, 0)
    for (const [key, { size }] of kept) {
      if (total <= mostKept) return
      kept.delete(key)
      total -= size
    }
  }

  return (org: OrgId, provider: SealedProvider): Promise<ModelList> => {
    const key = `${org} ${provider.id}`
    const version = provider.updatedAt.getTime()
    const now = deps.clock.now().getTime()
    const known = kept.get(key)
    if (known?.version === version && isCurrent(known, now)) return known.list
    const list = request(org, provider)
    const one: CachedModels = { version, from: now, until: Number.POSITIVE_INFINITY, size: 1, list }
    kept.delete(key)
    kept.set(key, one)
    list.then(
      ({ models, message }) => {
        one.until = now + (message === null ? keptForMs : failureKeptForMs)
        one.size = 1 + models.length
        prune(now)
      },
      () => {
        if (kept.get(key) === one) kept.delete(key)
      },
    )
    return list
  }
}
