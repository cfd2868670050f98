// https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
import type { ProviderSettings } from '../../settings.ts'
import { below, type Dialect, postJson } from '../dialect.ts'
import { postTexts, readEmbeddings } from '../embeddings.ts'
import { postAudio, readTranscription } from '../transcription.ts'
import { completionBody, readCompletion } from './openai-compatible.ts'

/** Returns the endpoint without the API path, which people may have copied as well. */
export const endpointOf = (baseUrl: string): string => {
  const url = new URL(baseUrl)
  url.pathname = url.pathname.replace(/\/openai(\/v1)?\/*$/, '')
  return url.href
}

/**
 * Returns the URL for a deployment. Without an API version, the URL is for the v1 API. Dated versions have the
 * deployment in the path.
 */
const urlOf = (
  { baseUrl, apiVersion }: Pick<ProviderSettings, 'baseUrl' | 'apiVersion'>,
  deployment: string,
  path: '/chat/completions' | '/audio/transcriptions' | '/embeddings',
): URL => {
  const endpoint = endpointOf(baseUrl)
  if (apiVersion === undefined) return below(endpoint, `/openai/v1${path}`)
  const url = below(endpoint, `/openai/deployments/${encodeURIComponent(deployment)}${path}`)
  url.searchParams.set('api-version', apiVersion)
  return url
}

export const headersOf = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { 'api-key': apiKey }

/** There is no way to list deployments with an API key. `/models` lists all models that could be deployed. */
export const azureOpenai: Dialect = {
  ask: (settings, options) =>
    postJson(urlOf(settings, options.model, '/chat/completions'), headersOf(settings.apiKey), completionBody(options)),
  read: readCompletion,
  transcribe: (settings, options) =>
    postAudio(urlOf(settings, options.model, '/audio/transcriptions'), headersOf(settings.apiKey), options),
  readTranscription,
  embed: (settings, options) =>
    postTexts(urlOf(settings, options.model, '/embeddings'), headersOf(settings.apiKey), options),
  readEmbeddings,
}
