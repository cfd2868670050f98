// Judges one conversation with a language model, for one monitor or for several that share a request.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config.ts'
import { ApiError } from '../../platform/errors.ts'
import type { Turn } from '../../transcripts/turn.ts'
import { requireJudgeProvider } from '../judge-provider.ts'
import { type AskModel, askAboutWindow } from './ask-about-window.ts'
import { combine, isSettled, type JudgedDefinition } from './combine.ts'
import type { JudgeDefinition, JudgeResult, Tokens } from './definition.ts'
import { openEndpoint } from './endpoint.ts'
import { EndpointError } from './endpoint-error.ts'
import { openGate, type Timing } from './gate.ts'
import { type JudgePrompt, systemText } from './prompt.ts'
import type { RequestLog } from './request-log.ts'
import { estimateTokens } from './text.ts'
import { smallestWindowTokens, windowsOf } from './transcript.ts'

export type JudgeRequest = {
  /** The definitions of one group of `groups`, which all use the same model. */
  definitions: readonly JudgeDefinition[]
  turns: readonly Turn[]
  /** The organization. Organizations take turns at an endpoint. */
  owner?: string
  /** Lets everything else of the same organization go first. */
  background?: boolean
  /** Someone waits for the result, so a failing endpoint is only retried for a few seconds. */
  isAwaited?: boolean
  /** Aborts the judgment. It rejects with the signal's reason, and there is no result. */
  signal?: AbortSignal
  /** Receives the cost of each definition so far, before the judgment rejects. */
  onLost?: (paid: Paid[]) => void
}

export type Paid = Pick<JudgeResult, 'tokens' | 'cost'>

/** The estimated cost. */
export type JudgeEstimate = { tokens: Tokens; cost: number | null }

export type Judge = {
  /**
   * Groups the monitors that share a request, so that each group can be one job. If requests are not shared, each
   * monitor is its own group.
   */
  groups: <M extends { definition: JudgeDefinition }>(monitors: readonly M[]) => M[][]
  /** Returns one result for each definition, in order. Failures of the endpoint are results too. */
  evaluate: (request: JudgeRequest) => Promise<JudgeResult[]>
  /** Estimates the cost for a number of conversations with this many characters of transcript in total. */
  estimate: (definition: JudgeDefinition, of: { conversations: number; characters: number }) => JudgeEstimate
  /** Aborts judgments in progress, which reject. */
  close: () => Promise<void>
}

/** The tokens reserved for the response, and for what an endpoint adds around the messages. */
const answerTokens = 4_000

/** The tokens of an answer in an estimate. Its reasoning and quotes are usually short. */
const usualAnswerTokens = 200

/**
 * The largest part of the context for the criteria of monitors that share a request. The rest is for the transcript.
 */
const largestShareOfCriteria = 0.25

/** How long the requests of one judgment may wait in total. After that, retrying the job is better. */
const patienceMs = 600_000

/** How long requests may wait if someone waits for the result. */
const awaitedPatienceMs = 3_000

/** How long to wait if a failed endpoint does not say it. */
const againAfterMs = 60_000

type Options = Partial<Timing> & { clock?: Clock; requests?: Pick<RequestLog, 'note'> }

export const openJudge = (config: Config['judge'], timing: Options = {}): Judge => {
  const { limits, prices } = config
  const { clock = systemClock, random = Math.random } = timing
  const { wait = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }) } = timing
  const endpoint = openEndpoint({ ...config, timeoutMs: limits.timeoutMs }, clock)
  const gate = openGate({ concurrency: limits.concurrency, attempts: limits.attempts, clock, random, wait })
  const closing = new AbortController()

  const modelOf = ({ model }: JudgeDefinition): string => model ?? config.model ?? ''

  const costOf = (model: string, tokens: Tokens | null): number | null => {
    const price = prices.get(model)
    return price && tokens ? (tokens.input * price.input + tokens.output * price.output) / 1_000_000 : null
  }

  const fitTogether = (definitions: readonly JudgeDefinition[]): boolean =>
    definitions.length <= limits.monitorsPerRequest &&
    estimateTokens(systemText(definitions, true)) <= limits.contextTokens * largestShareOfCriteria

  const groups: Judge['groups'] = (monitors) => {
    const byModel = Map.groupBy(monitors, ({ definition }) => modelOf(definition))
    return [...byModel.values()].flatMap((ofModel) => {
      const made: (typeof ofModel)[] = []
      for (const monitor of ofModel) {
        const last = made.at(-1)
        if (last && fitTogether([...last, monitor].map(({ definition }) => definition))) last.push(monitor)
        else made.push([monitor])
      }
      return made
    })
  }

  /** Returns the windows to judge, or the reason why there are none. */
  const prepare = (
    definitions: readonly JudgeDefinition[],
    turns: readonly Turn[],
  ): string[] | { status: 'unscored' | 'failed'; reason: string } => {
    const reason = definitions.map((definition) => whyNot(config, definition)).find((text) => text !== undefined)
    if (reason !== undefined) return { status: 'failed', reason }
    const room = limits.contextTokens - answerTokens - estimateTokens(systemText(definitions, true))
    if (room < smallestWindowTokens) {
      return {
        status: 'failed',
        reason: `the criteria leave no room for a transcript in ${limits.contextTokens} tokens`,
      }
    }
    const windows = windowsOf(turns, room)
    if (windows.length === 0) return { status: 'unscored', reason: 'the transcript contains nothing to judge' }
    if (windows.length > limits.windows) {
      const size = `it needs ${windows.length} windows, and the limit is ${limits.windows}`
      return { status: 'unscored', reason: `the transcript is too long for the judge: ${size}` }
    }
    return windows
  }

  /** Sends one request, and counts its outcome. */
  const send = async (owner: string, model: string, prompt: JudgePrompt, signal: AbortSignal) => {
    const sentAt = performance.now()
    const note = (fault?: string) =>
      timing.requests?.note({ owner, model, durationMs: performance.now() - sentAt, fault })
    try {
      const reply = await endpoint.ask(model, prompt, signal)
      note()
      return reply
    } catch (error) {
      // An aborted request says nothing about the endpoint.
      if (error instanceof EndpointError) note(error.message)
      throw error
    }
  }

  const evaluate: Judge['evaluate'] = async ({
    definitions,
    turns,
    owner = '',
    signal,
    onLost,
    background = false,
    isAwaited = false,
  }) => {
    const [first] = definitions
    if (!first) return []
    const model = modelOf(first)
    const evaluator = `${config.provider}:${model}`
    const judged: JudgedDefinition[] = definitions.map((definition) => ({ definition, verdicts: [], tokens: null }))
    const paidFor = ({ tokens }: JudgedDefinition): Paid => ({ tokens, cost: costOf(model, tokens) })
    const conclude = () => judged.map((one) => ({ ...combine(one), evaluator, ...paidFor(one) }))

    const windows = prepare(definitions, turns)
    if (!Array.isArray(windows)) {
      for (const one of judged) one.verdicts.push({ ...windows, reasoning: null, evidence: [] })
      return conclude()
    }

    const ended = AbortSignal.any([closing.signal, ...(signal ? [signal] : [])])
    const deadline = clock.now().getTime() + (isAwaited ? awaitedPatienceMs : patienceMs)
    const passage = { signal: ended, deadline, owner, background }
    const ask: AskModel = (prompt) => gate.run((signal) => send(owner, model, prompt, signal), passage)
    try {
      await askAboutWindows(ask, judged, windows, turns)
    } catch (error) {
      onLost?.(judged.map(paidFor))
      throw error
    }
    return conclude()
  }

  const estimate: Judge['estimate'] = (definition, { conversations, characters }) => {
    const perConversation = estimateTokens(systemText([definition], false))
    const tokens = {
      input: conversations * perConversation + Math.ceil(characters / 3),
      output: conversations * usualAnswerTokens,
    }
    return { tokens, cost: costOf(modelOf(definition), tokens) }
  }

  const close = async () => {
    closing.abort(new Error('The service is stopping.'))
    await endpoint.close()
  }

  return { groups, evaluate, estimate, close }
}

/** Asks about one window after the other, until every result is final. If the endpoint fails, so do the results. */
const askAboutWindows = async (
  ask: AskModel,
  judged: JudgedDefinition[],
  windows: string[],
  turns: readonly Turn[],
): Promise<void> => {
  for (const [at, text] of windows.entries()) {
    const open = judged.filter((one) => !isSettled(one))
    if (open.length === 0) return
    try {
      await askAboutWindow(ask, open, { text, number: at + 1, of: windows.length }, turns)
    } catch (error) {
      if (!(error instanceof EndpointError)) throw error
      failWindow(open, at, error)
    }
  }
}

/** Lets the monitors fail that have no result for this window, because the endpoint failed. */
const failWindow = (open: JudgedDefinition[], at: number, { kind, message, retryAfterMs }: EndpointError): void => {
  const retryAfterSeconds = Math.ceil((retryAfterMs || againAfterMs) / 1_000)
  const failed = { status: 'failed', reason: message } as const
  for (const { verdicts } of open) {
    if (verdicts.length > at) continue
    verdicts.push(kind === 'refused' ? failed : { ...failed, retryAfterSeconds })
  }
}

/** Returns why a monitor can't be judged. The configuration may have changed since the monitor was created. */
const whyNot = (config: Config['judge'], { model }: JudgeDefinition): string | undefined => {
  try {
    requireJudgeProvider(config, model)
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
}
