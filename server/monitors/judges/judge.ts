// Judges one conversation with a language model, for one monitor or for several monitors that share a request.
import { openChain } from '../../model-providers/ask-chain.ts'
import type { ModelChain, Models, NoModel } from '../../model-providers/models.ts'
import type { PromptSound } from '../../model-providers/requests/dialect.ts'
import { EndpointError, isNotSentYet } from '../../model-providers/requests/endpoint-error.ts'
import { estimateSoundTokens, estimateTokens } from '../../model-providers/requests/estimate-tokens.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config.ts'
import { ApiError, invalid } from '../../platform/errors.ts'
import type { Turn } from '../../transcripts/turn.ts'
import { type AskModel, askAboutWindow } from './ask-about-window.ts'
import { type BatchJudge, openBatchJudge } from './batch.ts'
import { combine, isSettled, type JudgedDefinition } from './combine.ts'
import { type JudgeDefinition, type JudgeResult, listens, type Tokens } from './definition.ts'
import { mostExampleTokens } from './examples.ts'
import { countEmptyPrompt, type Forecast, forecastTranscript } from './forecast.ts'
import { systemText } from './prompt.ts'
import { smallestWindowTokens, windowsOf } from './transcript.ts'

export type JudgeRequest = {
  /** The definitions in one of the groups from `groups`. All of them use the same model. */
  definitions: readonly JudgeDefinition[]
  turns: readonly Turn[]
  /** The sound that the judge hears. Only for a listening judge, which shares no request. */
  sounds?: PromptSound[] | undefined
  /** The organization. Organizations take turns at an endpoint. */
  owner?: string
  /** Lets all other requests of the same organization go first. */
  background?: boolean
  /** Whether someone is waiting for the result. If so, a failing endpoint is only retried for a few seconds. */
  isAwaited?: boolean
  /** Aborts the judgment. It rejects with the signal's reason, and there is no result. */
  signal?: AbortSignal
  /** Receives the cost of each definition so far, before the judgment rejects. */
  onLost?: (paid: Paid[]) => void
}

export type Paid = Pick<JudgeResult, 'tokens' | 'cost'>

/** Estimates the requests to the model that a definition uses. */
export type Forecaster = {
  /** The provider and model. */
  evaluator: string
  /** The number of tokens in a request without a transcript. */
  emptyTokens: number
  /** Estimates the requests for a transcript. */
  forecast: (definition: JudgeDefinition, turns: readonly Turn[]) => Forecast
  /** Returns the cost in US dollars without caching. Null if the price is unknown. */
  costOf: (tokens: Tokens & { audioInput?: number }) => number | null
}

/**
 * Groups the monitors that share a request, so that each group can be one job. If requests are not shared, each monitor
 * is its own group.
 */
type Grouping = <M extends { definition: JudgeDefinition }>(monitors: readonly M[]) => M[][]

export type Judge = {
  /** Throws if no model is configured for the definition. The error says what to do. */
  requireModel: (owner: string, definition: Pick<JudgeDefinition, 'model' | 'input'>) => Promise<void>
  /** Finds the models for these definitions, and returns a function that groups monitors with these definitions. */
  grouping: (owner: string, definitions: readonly JudgeDefinition[]) => Promise<Grouping>
  /** Returns one result for each definition, in order. Endpoint failures are also results. */
  evaluate: (request: JudgeRequest) => Promise<JudgeResult[]>
  /** Returns an estimator for a definition's requests, or undefined if no model can answer. */
  forecaster: (owner: string, definition: JudgeDefinition) => Promise<Forecaster | undefined>
  /**
   * Returns a judge that works in batches, or the reason why that is not possible. `model` is the name of a model to
   * use instead of the definition's.
   */
  batching: (owner: string, definition: JudgeDefinition, model?: string) => Promise<BatchJudge | { fault: string }>
  /** Returns how many concurrent requests the definition's model accepts. */
  concurrencyOf: (owner: string, definition: Pick<JudgeDefinition, 'model'>) => Promise<number>
  /** Aborts judgments in progress, which reject. */
  close: () => Promise<void>
}

/** The tokens reserved for the response, and for text that an endpoint adds around the messages. */
const answerTokens = 4_000

/**
 * The maximum share of the context for the criteria of monitors that share a request. The remaining context is for the
 * transcript.
 */
const largestShareOfCriteria = 0.25

/** The maximum total time that the requests of one judgment may wait. After that, it is better to retry the job. */
const patienceMs = 600_000

/** The maximum wait of requests if someone is waiting for the result. */
const awaitedPatienceMs = 3_000

/** The delay after a failure if the endpoint does not specify one. */
const againAfterMs = 60_000

/** Returns the context size that every model in a chain has. */
const contextTokensOf = (chain: ModelChain): number =>
  Math.min(...chain.links.map(({ limits }) => limits.contextTokens))

/** Returns the maximum number of tokens in a request without its transcript. */
const promptTokens = (definitions: readonly JudgeDefinition[]): number =>
  estimateTokens(systemText(definitions, true)) + mostExampleTokens(definitions)

const takesNoSound =
  'cannot be sound, because this model’s provider does not accept audio. Use an OpenAI-compatible or Google provider and a model that accepts audio.'

const noBatchesOfSound = 'Judges that listen can’t be sent as batches.'

const noBatches =
  'This judge’s model does not support batches. Choose an OpenAI-compatible, Anthropic, or Azure OpenAI provider under Settings → Models.'

/** The reason why no model can be asked. */
type NotAsked = { status: 'unscored' | 'failed'; reason: string }

type JudgeLimits = Pick<Config['judge']['limits'], 'monitorsPerRequest' | 'windows'>

export const openJudge = (models: Pick<Models, 'find'>, limits: JudgeLimits, clock: Clock = systemClock): Judge => {
  const closing = new AbortController()

  /** Finds a judge's models. For a listening judge, they must accept sound. */
  const findModels = async (
    owner: string,
    { model, input }: Pick<JudgeDefinition, 'model' | 'input'>,
  ): Promise<ModelChain | NoModel> => {
    const chain = await models.find(owner, model)
    if ('fault' in chain || !listens({ ...(input && { input }) })) return chain
    const [first, ...others] = chain.links.filter(({ takesSound }) => takesSound)
    return first ? { ...chain, links: [first, ...others] } : { fault: takesNoSound }
  }

  const requireModel: Judge['requireModel'] = async (owner, definition) => {
    const found = await findModels(owner, definition)
    if (!('fault' in found)) return
    if (found.fault === takesNoSound) throw invalid('definition.input', takesNoSound)
    if (found.isUnknown) throw invalid('definition.model', 'names a model provider that does not exist')
    throw new ApiError('conflict', found.fault)
  }

  const fitTogether = (definitions: readonly JudgeDefinition[], contextTokens: number): boolean =>
    definitions.length <= limits.monitorsPerRequest &&
    promptTokens(definitions) <= contextTokens * largestShareOfCriteria

  const shareRequests = <M extends { definition: JudgeDefinition }>(monitors: M[], contextTokens: number): M[][] => {
    const made: M[][] = []
    for (const monitor of monitors) {
      const last = made.at(-1)
      const together = last && [...last, monitor].map(({ definition }) => definition)
      if (last && together && fitTogether(together, contextTokens)) last.push(monitor)
      else made.push([monitor])
    }
    return made
  }

  const grouping: Judge['grouping'] = async (owner, definitions) => {
    const chains = new Map<string | undefined, ModelChain | NoModel>()
    for (const { model } of definitions) {
      if (!chains.has(model)) chains.set(model, await models.find(owner, model))
    }
    // A model's name and the default can refer to the same model.
    const keyOf = ({ model }: JudgeDefinition): string | undefined => {
      const chain = chains.get(model)
      return chain && 'links' in chain ? chain.key : model
    }
    const contextOf = ({ model }: JudgeDefinition): number => {
      const chain = chains.get(model)
      return chain && 'links' in chain ? contextTokensOf(chain) : 0
    }
    return (monitors) => {
      // Each listening judge may hear different sound, so it shares no request.
      const byKey = Map.groupBy(monitors, ({ definition }) => (listens(definition) ? definition : keyOf(definition)))
      return [...byKey.values()].flatMap((ofKey) => {
        const [first] = ofKey
        return first ? shareRequests(ofKey, contextOf(first.definition)) : []
      })
    }
  }

  /** Returns the windows to judge, or the reason why there are none. */
  const prepare = (
    chain: ModelChain,
    definitions: readonly JudgeDefinition[],
    turns: readonly Turn[],
    sounds: readonly PromptSound[] = [],
  ): string[] | NotAsked => {
    const contextTokens = contextTokensOf(chain)
    const ofSound = sounds.reduce((sum, { seconds }) => sum + estimateSoundTokens(seconds), 0)
    const room = contextTokens - answerTokens - promptTokens(definitions) - ofSound
    if (room < smallestWindowTokens) {
      return { status: 'failed', reason: `the criteria leave no room for a transcript in ${contextTokens} tokens` }
    }
    const windows = windowsOf(turns, room)
    if (windows.length === 0) return { status: 'unscored', reason: 'the transcript contains nothing to judge' }
    // Only one request can contain the sound.
    const most = definitions.some(listens) ? 1 : limits.windows
    if (windows.length > most) {
      const size = `it needs ${windows.length} windows, and the limit is ${most}`
      return { status: 'unscored', reason: `the transcript is too long for the judge: ${size}` }
    }
    return windows
  }

  const judge = async (chain: ModelChain, windows: string[], judged: JudgedDefinition[], request: JudgeRequest) => {
    const { turns, sounds, owner = '', signal, background = false, isAwaited = false } = request
    const evaluators = new Set<string>()
    let responseMs: number | null = null
    const ended = AbortSignal.any([closing.signal, ...(signal ? [signal] : [])])
    const now = () => clock.now().getTime()
    const terms = {
      signal: ended,
      deadline: now() + (isAwaited ? awaitedPatienceMs : patienceMs),
      owner,
      background,
    }
    const askChain = openChain(chain, now)
    const ask: AskModel = async (prompt) => {
      const answered = await askChain(prompt, terms)
      responseMs = (responseMs ?? 0) + answered.responseMs
      evaluators.add(answered.link.evaluator)
      return { reply: answered.reply, cost: answered.link.costOf(answered.reply?.tokens ?? null) }
    }
    await askAboutWindows(ask, judged, windows, { turns, sounds })
    return { evaluator: [...evaluators].join(', ') || chain.links[0].evaluator, responseMs }
  }

  const evaluate: Judge['evaluate'] = async (request) => {
    const { definitions, turns, sounds, owner = '', onLost } = request
    const [first] = definitions
    if (!first) return []
    const judged = definitions.map((definition): JudgedDefinition => {
      return { definition, verdicts: [], tokens: null, cost: null }
    })
    const paidFor = ({ tokens, cost }: JudgedDefinition): Paid => ({ tokens, cost })
    const conclude = (of: Pick<JudgeResult, 'evaluator' | 'responseMs'>) =>
      judged.map((one) => ({ ...combine(one), ...of, ...paidFor(one) }))
    const withoutAsking = (outcome: NotAsked, evaluator: string) => {
      for (const one of judged) one.verdicts.push({ ...outcome, reasoning: null, evidence: [] })
      return conclude({ evaluator, responseMs: null })
    }

    const chain = await findModels(owner, first)
    if ('fault' in chain) return withoutAsking({ status: 'failed', reason: chain.fault }, 'judge')
    const windows = prepare(chain, definitions, turns, sounds)
    if (!Array.isArray(windows)) return withoutAsking(windows, chain.links[0].evaluator)
    try {
      return conclude(await judge(chain, windows, judged, request))
    } catch (error) {
      onLost?.(judged.map(paidFor))
      throw error
    }
  }

  const forecaster: Judge['forecaster'] = async (owner, definition) => {
    const chain = await findModels(owner, definition)
    if ('fault' in chain) return undefined
    const [{ evaluator, costOf }] = chain.links
    const prepareOne = (one: JudgeDefinition, turns: readonly Turn[]) => prepare(chain, [one], turns)
    return {
      evaluator,
      emptyTokens: countEmptyPrompt(definition),
      forecast: (one, turns) => forecastTranscript(prepareOne, one, turns),
      costOf: (tokens) => costOf({ ...tokens, cachedInput: 0, cacheWrite: 0 }),
    }
  }

  const batching: Judge['batching'] = async (owner, definition, model = definition.model) => {
    if (listens(definition)) return { fault: noBatchesOfSound }
    const chain = await models.find(owner, model)
    if ('fault' in chain) return { fault: chain.fault }
    const [link] = chain.links
    // If the provider is disabled, the first model comes from a fallback.
    if (link.batches?.name !== chain.key) return { fault: noBatches }
    return openBatchJudge(link, link.batches, definition, (turns) => prepare(chain, [definition], turns))
  }

  const concurrencyOf: Judge['concurrencyOf'] = async (owner, { model }) => {
    const chain = await models.find(owner, model)
    return 'fault' in chain ? 1 : chain.links[0].limits.concurrency
  }

  const close = async () => {
    closing.abort(new Error('The service is stopping.'))
  }

  return { requireModel, grouping, evaluate, forecaster, batching, concurrencyOf, close }
}

/** Asks about one window after the other until every result is final. If the endpoint fails, so do the results. */
const askAboutWindows = async (
  ask: AskModel,
  judged: JudgedDefinition[],
  windows: string[],
  { turns, sounds }: Pick<JudgeRequest, 'turns' | 'sounds'>,
): Promise<void> => {
  for (const [at, text] of windows.entries()) {
    const open = judged.filter((one) => !isSettled(one))
    if (open.length === 0) return
    try {
      await askAboutWindow(ask, open, { text, number: at + 1, of: windows.length, sounds }, turns)
    } catch (error) {
      if (!(error instanceof EndpointError)) throw error
      failWindow(open, at, error)
    }
  }
}

/** Marks the monitors without a result for this window as failed, because the endpoint failed. */
const failWindow = (open: JudgedDefinition[], at: number, error: EndpointError): void => {
  const { kind, message, retryAfterMs } = error
  const retryAfterSeconds = Math.ceil((retryAfterMs || againAfterMs) / 1_000)
  const failed = { status: 'failed', reason: message } as const
  for (const { verdicts } of open) {
    if (verdicts.length > at) continue
    verdicts.push(kind === 'refused' ? failed : { ...failed, retryAfterSeconds, isNotSentYet: isNotSentYet(error) })
  }
}
