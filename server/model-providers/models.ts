// Finds the models that answer for a monitor: models of the organization's providers, or the operator's endpoint.
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { dropOldest } from '../platform/drop-oldest.ts'
import { orgIdOf } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import type { Secrets } from '../platform/secrets/secrets.ts'
import { type BatchClient, openBatches } from './batches/open-batches.ts'
import { instanceFault, instanceSettings } from './instance.ts'
import { instanceLimits, limitsOf } from './limits.ts'
import { readModelName } from './model-name.ts'
import { costOf, findPrice } from './prices.ts'
import { listSealedProviders, type SealedProvider } from './queries.ts'
import { openProviderHealth } from './record-health.ts'
import type { RequestLog } from './request-log/request-log.ts'
import type { EmbeddingReply, ModelPrompt, ModelReply, ModelTokens, TranscriptionReply } from './requests/dialect.ts'
import { EndpointError } from './requests/endpoint-error.ts'
import { estimateSoundTokens, estimateTokens } from './requests/estimate-tokens.ts'
import { type Gate, openGate, type RequestTerms, type Timing } from './requests/gate.ts'
import { admit, type ProviderLimits } from './requests/limits.ts'
import { type Endpoint, openEndpoint } from './requests/send.ts'
import { returnsTimes } from './requests/transcription.ts'
import { openOperatorTransport, tenantTransport } from './requests/transport.ts'
import { openSettings } from './settings.ts'

export type ModelAnswer = {
  /** Undefined if the response is not from a model. */
  reply: ModelReply | undefined
  /** The response time of the model. */
  responseMs: number
}

/** A model that can answer. */
export type ModelLink = {
  /** The kind of provider and the model, such as `anthropic:claude-sonnet-5`. */
  evaluator: string
  limits: ProviderLimits
  /** Returns the cost in US dollars, or null if the tokens or the price are unknown. */
  costOf: (tokens: ModelTokens | null) => number | null
  ask: (prompt: ModelPrompt, terms: RequestTerms) => Promise<ModelAnswer>
  /** Undefined if the provider offers no batches. */
  batches?: ModelBatches | undefined
  /** Whether the provider's models accept sound. */
  takesSound: boolean
  /** Undefined if this kind of provider can't transcribe recordings. */
  transcription?: ModelTranscription | undefined
  /** Undefined if this kind of provider can't embed texts. */
  embedding?: ModelEmbedding | undefined
}

/** A model that turns texts into vectors. */
export type ModelEmbedding = {
  /** The provider and the model, `providerId/model`. */
  name: string
  /** Returns undefined unless the response has one vector for each text. */
  embed: (texts: string[], terms: RequestTerms) => Promise<EmbeddingReply | undefined>
}

/** A model that transcribes recordings. */
export type ModelTranscription = {
  /** The provider and the model, `providerId/model`. */
  name: string
  /** Whether the model returns the times at which its text is spoken. */
  isTimed: boolean
  /** Returns the cost in US dollars, or null if the price is unknown. */
  costOf: (audioSeconds: number) => number | null
  /** Returns undefined if the response has no transcript. */
  transcribe: (audio: Buffer, audioSeconds: number, terms: RequestTerms) => Promise<TranscriptionReply | undefined>
}

/** A model that answers batches of requests within a day. */
export type ModelBatches = {
  /** The provider and the model, `providerId/model`. */
  name: string
  model: string
  client: BatchClient
  /** The fraction of the price that a batch saves. */
  discount: number
}

export type ModelChain = {
  /** Monitors with equal keys can share a request. */
  key: string
  /** The model that answers, and those that answer if it fails. */
  links: [ModelLink, ...ModelLink[]]
}

/** The reason why no model can answer. `isUnknown` means that the provider in the model's name doesn't exist. */
export type NoModel = { fault: string; isUnknown?: true }

export type Models = {
  /** Finds the models for the `model` of a monitor's definition. */
  find: (owner: string, name: string | undefined) => Promise<ModelChain | NoModel>
  close: () => Promise<void>
}

type TenantDeps = { db: Db; secrets: Secrets; outbound: Pick<Outbound, 'request' | 'stream'>; log: Log }

type ModelsOptions = Partial<Timing> & {
  config: Config['judge']
  requests?: Pick<RequestLog, 'note'> | undefined
  /** The dependencies for the providers of organizations. Without them, only the operator's endpoint is available. */
  tenants?: TenantDeps
}

/**
 * A provider's queue and circuit breaker in this process. If the settings or limits change, the provider gets new ones.
 */
type Opened = { version: string; gate: Gate; endpoint: Endpoint; batches: BatchClient | undefined }

/** The maximum number of open providers in a process. */
const mostOpened = 1_000

/** The number of answer tokens that is assumed when a request is admitted. Reasoning and quotes are usually short. */
const usualAnswerTokens = 200

/** Models with a token limit count about this many tokens for a second of audio. */
const audioTokensPerSecond = 10

type Asking = {
  /** The model's name in the request counts. */
  counted: string
  onAnswered?: (fault: string | null) => void
}

/** Returns whether a kind of provider has models that accept sound. */
const takesSound = (kind: SealedProvider['kind']): boolean => kind === 'openai-compatible' || kind === 'google'

/** Returns whether a kind of provider embeds texts. */
export const embeds = (kind: SealedProvider['kind']): boolean => kind === 'openai-compatible' || kind === 'azure-openai'

/** Returns whether a kind of provider transcribes recordings. */
export const transcribes = (kind: SealedProvider['kind']): boolean =>
  kind === 'openai-compatible' || kind === 'azure-openai'

export const openModels = (options: ModelsOptions): Models => {
  const { config, requests, tenants, clock = systemClock, random = Math.random } = options
  const { wait = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }) } = options
  const timing: Timing = { clock, random, wait }
  const operator = openOperatorTransport()
  const health = tenants && openProviderHealth({ ...tenants, clock })

  const openGateOf = ({ concurrency }: ProviderLimits) =>
    openGate({ concurrency, attempts: config.limits.attempts, ...timing })

  /** Sends one request, and counts its outcome. */
  const send = async <T>(
    { counted, onAnswered }: Asking,
    { owner }: RequestTerms,
    request: () => Promise<T>,
  ): Promise<{ reply: T; responseMs: number }> => {
    const sentAt = performance.now()
    const note = (fault?: string) => {
      requests?.note({ owner, model: counted, durationMs: performance.now() - sentAt, fault })
    }
    try {
      const reply = await request()
      note()
      onAnswered?.(null)
      return { reply, responseMs: Math.round(performance.now() - sentAt) }
    } catch (error) {
      // An aborted request says nothing about the state of the endpoint.
      if (!(error instanceof EndpointError)) throw error
      note(error.message)
      if (error.kind === 'down' || error.kind === 'locked') onAnswered?.(error.messageWithHost)
      throw error
    }
  }

  const ofInstance = {
    limits: instanceLimits(config),
    gate: openGateOf(instanceLimits(config)),
    endpoint: openEndpoint({
      kind: config.provider,
      settings: instanceSettings(config),
      contextTokens: config.limits.contextTokens,
      timeoutMs: config.limits.timeoutMs,
      transport: operator.transport,
      clock,
    }),
  }

  const instanceChain = (ownModel: string | undefined): ModelChain | NoModel => {
    const fault = instanceFault(config, ownModel)
    if (fault !== undefined) return { fault }
    const { limits, gate, endpoint } = ofInstance
    const model = ownModel ?? config.model ?? ''
    const price = config.prices.get(model)
    const link: ModelLink = {
      evaluator: `${config.provider}:${model}`,
      limits,
      takesSound: takesSound(config.provider),
      costOf: (tokens) => costOf(price, tokens),
      ask: (prompt, terms) =>
        gate.run((signal) => send({ counted: model }, terms, () => endpoint.ask(model, prompt, signal)), terms),
    }
    return { key: `instance/${model}`, links: [link] }
  }

  const opened = new Map<string, Opened>()

  const openProvider = (deps: TenantDeps, org: OrgId, provider: SealedProvider, limits: ProviderLimits): Opened => {
    const key = `${org} ${provider.id}`
    const version = JSON.stringify([provider.settings, provider.secret, limits])
    const known = opened.get(key)
    if (known?.version === version) return known
    const { kind } = provider
    const settings = openSettings(deps.secrets, org, provider)
    const endpoint = openEndpoint({
      kind,
      settings,
      contextTokens: limits.contextTokens,
      timeoutMs: limits.timeoutMs,
      transport: tenantTransport(deps.outbound),
      clock,
    })
    const batches = openBatches({ kind, settings, endpoint, outbound: deps.outbound })
    const made = { version, gate: openGateOf(limits), endpoint, batches }
    opened.delete(key)
    opened.set(key, made)
    dropOldest(opened, mostOpened)
    return made
  }

  const linkTo = async (deps: TenantDeps, org: OrgId, provider: SealedProvider, model: string): Promise<ModelLink> => {
    const limits = limitsOf(provider.limits, config)
    const priced = await findPrice(provider, model)
    const { gate, endpoint, batches: client } = openProvider(deps, org, provider, limits)
    const asking: Asking = {
      counted: `${model} (${provider.name})`,
      onAnswered: (fault) => health?.note(org, provider, fault),
    }

    /** Sends a request when the provider's limits allow it. */
    const sendWithinLimits = async <T>(
      tokens: number,
      terms: RequestTerms,
      { ask, usedBy }: { ask: () => Promise<T>; usedBy: (reply: T) => ModelTokens | null },
    ): Promise<{ reply: T; responseMs: number }> => {
      const { signal, deadline } = terms
      const { id: providerId, updatedAt } = provider
      const request = { org, providerId, updatedAt, limits, tokens, signal, deadline }
      const end = await admit({ db: deps.db, log: deps.log, ...timing }, request)
      let used = 0
      try {
        const answer = await send(asking, terms, ask)
        const counted = usedBy(answer.reply)
        used = counted ? counted.input + counted.output : tokens
        return answer
      } finally {
        // The answer matters more than its count, and the slot is freed after a while in any case.
        await end(used).catch((err: unknown) => deps.log.warn({ err }, 'could not end a request to a model provider'))
      }
    }

    const askWithinLimits = (prompt: ModelPrompt, terms: RequestTerms): Promise<ModelAnswer> => {
      const { system, shared = '', sounds = [], user } = prompt
      const ofSound = sounds.reduce((sum, { seconds }) => sum + estimateSoundTokens(seconds), usualAnswerTokens)
      const tokens = [system, shared, user].reduce((sum, text) => sum + estimateTokens(text), ofSound)
      return sendWithinLimits(tokens, terms, {
        ask: () => endpoint.ask(model, prompt, terms.signal),
        usedBy: (reply) => reply?.tokens ?? null,
      })
    }

    const transcription = (): ModelTranscription => ({
      name: `${provider.id}/${model}`,
      isTimed: returnsTimes(model),
      costOf: (seconds) => (priced.audioMinute === undefined ? null : (seconds / 60) * priced.audioMinute),
      transcribe: (audio, seconds, terms) =>
        gate.run(async (signal) => {
          const { reply } = await sendWithinLimits(
            Math.ceil(seconds * audioTokensPerSecond),
            { ...terms, signal },
            { ask: () => endpoint.transcribe(model, audio, signal), usedBy: () => null },
          )
          return reply
        }, terms),
    })

    const embedding = (): ModelEmbedding => ({
      name: `${provider.id}/${model}`,
      embed: (texts, terms) =>
        gate.run(async (signal) => {
          const tokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
          const { reply } = await sendWithinLimits(
            tokens,
            { ...terms, signal },
            { ask: () => endpoint.embed(model, texts, signal), usedBy: (answered) => answered?.tokens ?? null },
          )
          return reply
        }, terms),
    })

    return {
      evaluator: `${provider.kind}:${model}`,
      limits,
      takesSound: takesSound(provider.kind),
      costOf: priced.costOf,
      embedding: embeds(provider.kind) ? embedding() : undefined,
      transcription: transcribes(provider.kind) ? transcription() : undefined,
      batches: client && { name: `${provider.id}/${model}`, model, client, discount: priced.batchDiscount },
      ask: (prompt, terms) => gate.run((signal) => askWithinLimits(prompt, { ...terms, signal }), terms),
    }
  }

  const modelOf = ({ settings }: SealedProvider): string | undefined =>
    typeof settings.model === 'string' ? settings.model : undefined

  const chainOf = async (
    deps: TenantDeps,
    org: OrgId,
    { provider, model: ownModel, all }: { provider: SealedProvider; model: string | undefined; all: SealedProvider[] },
  ): Promise<ModelChain | NoModel> => {
    const model = ownModel ?? modelOf(provider)
    const named = `The model provider “${provider.name}”`
    if (model === undefined) {
      return { fault: `${named} has no default model. Choose one under Settings → Models, or in the monitor.` }
    }
    const fallbacks = provider.fallbackProviderIds.flatMap((id) => all.find((other) => other.id === id) ?? [])
    const answering = [{ provider, model }, ...fallbacks.map((other) => ({ provider: other, model: modelOf(other) }))]
    const links = answering.flatMap((one) =>
      one.provider.status === 'active' && one.model !== undefined ? [linkTo(deps, org, one.provider, one.model)] : [],
    )
    const [first, ...others] = await Promise.all(links)
    if (!first) return { fault: `${named} is disabled. Enable it under Settings → Models.` }
    return { key: `${provider.id}/${model}`, links: [first, ...others] }
  }

  const find: Models['find'] = async (owner, name) => {
    const { providerId, model } = readModelName(name)
    // Tests and benchmarks use judges without an organization, so there are no providers.
    if (providerId === 'instance' || !tenants || owner === '') return instanceChain(model)
    const org = orgIdOf(owner)
    const all = await listSealedProviders(tenants.db, org)
    if (providerId !== undefined) {
      const provider = all.find(({ id }) => id === providerId)
      if (provider) return chainOf(tenants, org, { provider, model, all })
      return { fault: 'The monitor names a model provider that does not exist.', isUnknown: true }
    }
    // A model without a provider belongs to the operator, as it did before other providers existed.
    if (model !== undefined && instanceFault(config, model) === undefined) return instanceChain(model)
    const provider = all.find(({ isDefault }) => isDefault)
    return provider ? chainOf(tenants, org, { provider, model, all }) : instanceChain(model)
  }

  const close = async () => {
    await operator.close()
    await health?.close()
  }

  return { find, close }
}
