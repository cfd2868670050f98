// Sends a tiny request to a provider, and explains in plain words whether judges can use it.
import type { Config } from '../platform/config.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { compileStrict } from '../platform/json-schema.ts'
import { diagnose } from './diagnose.ts'
import { limitsOf } from './limits.ts'
import { findPrice } from './prices.ts'
import type { SealedProvider } from './queries.ts'
import type { ModelReply } from './requests/dialect.ts'
import { EndpointError } from './requests/endpoint-error.ts'
import { openEndpoint } from './requests/send.ts'
import { tenantTransport } from './requests/transport.ts'
import type { TestProblem } from './schema.ts'
import { openSettings } from './settings.ts'

const testTimeoutMs = 30_000

const schema = {
  type: 'object',
  properties: { ok: { type: 'boolean' } },
  required: ['ok'],
  additionalProperties: false,
}

const prompt = {
  system: 'This request tests a connection. Answer with one JSON object in the given form.',
  user: 'Answer that it is ok.',
  schema,
}

const isAnswer = compileStrict<{ ok: boolean }>(schema)

const isInForm = ({ text, end }: ModelReply): boolean => {
  if (end !== 'whole') return false
  try {
    return isAnswer(JSON.parse(text))
  } catch {
    return false
  }
}

export type Tested = {
  ok: boolean
  problem: TestProblem | null
  message: string
  model: string | null
  durationMs: number
  tokens: { input: number; output: number } | null
  cost: number | null
}

const spell = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`)

const paidFor = async (provider: SealedProvider, model: string, { tokens }: ModelReply) => {
  if (!tokens) return { tokens: null, cost: null }
  const { costOf } = await findPrice(provider, model)
  return { tokens: { input: tokens.input, output: tokens.output }, cost: costOf(tokens) }
}

type TestDeps = Pick<Deps, 'secrets' | 'outbound' | 'clock'> & { config: Pick<Config, 'judge'> }

/** Opens the provider's endpoint outside its queue, because somebody is waiting and no request is repeated. */
export const openForTest = (
  { secrets, outbound, clock, config }: TestDeps,
  org: OrgId,
  provider: SealedProvider,
  timeoutMs: number,
) =>
  openEndpoint({
    kind: provider.kind,
    settings: openSettings(secrets, org, provider),
    contextTokens: limitsOf(provider.limits, config.judge).contextTokens,
    timeoutMs,
    transport: tenantTransport(outbound),
    clock,
  })

/** Tests a provider. The test can't be aborted, because the provider charges for the request in any case. */
export const testProvider = async (
  deps: TestDeps,
  org: OrgId,
  provider: SealedProvider,
  given: string | undefined,
): Promise<Tested> => {
  const model = given ?? (typeof provider.settings.model === 'string' ? provider.settings.model : undefined)
  const startedAt = performance.now()
  const common = () => ({ model: model ?? null, durationMs: Math.round(performance.now() - startedAt) })
  const failed = (problem: TestProblem, message: string): Tested => {
    return { ok: false, problem, message, ...common(), tokens: null, cost: null }
  }
  if (model === undefined) {
    return failed('unknown_model', 'No model is chosen. Choose a default model, or name one for the test.')
  }
  try {
    const reply = await openForTest(deps, org, provider, testTimeoutMs).ask(model, prompt, new AbortController().signal)
    if (!reply) {
      const message = 'The address answers, but not like a provider of this kind. Check the kind and the base URL.'
      return failed('wrong_address', message)
    }
    const spent = { ...common(), ...(await paidFor(provider, model, reply)) }
    if (!isInForm(reply)) {
      const hint = 'Choose another model, or set the structured output to “prompt”.'
      const message = `“${model}” answered, but not in the form that judges need. ${hint}`
      return { ok: false, problem: 'invalid_answer', message, ...spent }
    }
    const message = `“${model}” answered in ${spell(spent.durationMs)}.`
    return { ok: true, problem: null, message, ...spent }
  } catch (error) {
    if (!(error instanceof EndpointError)) throw error
    const { problem, message } = diagnose(error, model)
    return failed(problem, message)
  }
}
