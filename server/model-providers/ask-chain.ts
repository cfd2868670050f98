import type { ModelAnswer, ModelChain, ModelLink } from './models.ts'
import type { ModelPrompt } from './requests/dialect.ts'
import { EndpointError, isNotSentYet } from './requests/endpoint-error.ts'
import type { RequestTerms } from './requests/gate.ts'

/** The maximum total wait for a model with a fallback, including retries. */
const patienceBeforeFallbackMs = 30_000

/**
 * Returns whether another provider may answer after this failure. Requests that were rejected for their content are not
 * repeated elsewhere. Neither are requests that wait for limits set by people, or for a change to the provider.
 */
const isOfProvider = ({ kind, status }: EndpointError): boolean =>
  kind === 'busy' || kind === 'down' || kind === 'locked' || kind === 'resting' || status === 404

/**
 * Returns one error for several models that failed. The error can be retried if one of the models can be retried, and
 * is not final if one of them was not asked yet.
 */
const joinFaults = (earlier: EndpointError[], last: EndpointError): EndpointError => {
  if (earlier.length === 0) return last
  const faults = [...earlier, last]
  const message = faults.map((fault, at) => (at === 0 ? fault.message : `fallback ${at}: ${fault.message}`)).join('; ')
  const passing = faults.filter(({ kind }) => kind !== 'refused')
  const waits = passing.map(({ retryAfterMs }) => retryAfterMs).filter((ms) => ms > 0)
  const { kind } = faults.find(isNotSentYet) ?? passing[0] ?? last
  return new EndpointError(kind, message, {
    retryAfterMs: waits.length > 0 ? Math.min(...waits) : 0,
  })
}

export type ChainAnswer = ModelAnswer & { link: ModelLink }

/**
 * Asks the models of a chain in order. After a model has failed, all later prompts go to the next one, so that the
 * windows of a transcript don't each wait for the failing model.
 */
export const openChain = ({ links }: ModelChain, now: () => number) => {
  let at = 0

  /** Asks a model that has a fallback. Returns the error if the fallback should be asked instead. */
  const tryLink = async (link: ModelLink, prompt: ModelPrompt, terms: RequestTerms) => {
    try {
      return await link.ask(prompt, { ...terms, fallbackAt: now() + patienceBeforeFallbackMs })
    } catch (error) {
      if (error instanceof EndpointError && isOfProvider(error)) return error
      throw error
    }
  }

  return async (prompt: ModelPrompt, terms: RequestTerms): Promise<ChainAnswer> => {
    const faults: EndpointError[] = []
    for (; at < links.length - 1; at++) {
      const link = links[at] ?? links[0]
      const answer = await tryLink(link, prompt, terms)
      if (!(answer instanceof EndpointError)) return { link, ...answer }
      faults.push(answer)
    }
    const link = links[at] ?? links[0]
    const answer = await link.ask(prompt, terms).catch((error: unknown) => {
      throw error instanceof EndpointError ? joinFaults(faults, error) : error
    })
    return { link, ...answer }
  }
}
