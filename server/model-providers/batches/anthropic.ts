// https://platform.claude.com/docs/en/api/messages/batches
import { headersOf, urlOf } from '../requests/dialects/anthropic.ts'
import type { ProviderSettings } from '../settings.ts'
import { type BatchDialect, countIn, propertiesOf, textIn } from './dialect.ts'

const batchesPath = '/messages/batches'

const timeIn = (value: unknown): Date | null => {
  const time = typeof value === 'string' ? new Date(value) : undefined
  return time && !Number.isNaN(time.getTime()) ? time : null
}

const requestTo = ({ baseUrl, apiKey }: ProviderSettings, path: string) => ({
  url: urlOf(baseUrl, `${batchesPath}${path}`),
  headers: headersOf(apiKey),
})

const pathOf = (id: string): string => `/${encodeURIComponent(id)}`

/** Anthropic stores no metadata with a batch, so a lost batch is identified by its time and its number of requests. */
export const anthropicBatches: BatchDialect = {
  create: (settings, { lines }) => {
    const { url, headers } = requestTo(settings, '')
    const requests = lines.map(({ id, body }) => `{"custom_id":${JSON.stringify(id)},"params":${body}}`)
    return {
      method: 'POST',
      url,
      headers: { ...headers, 'content-type': 'application/json' },
      body: `{"requests":[${requests.join(',')}]}`,
    }
  },
  get: (settings, id) => ({ method: 'GET', ...requestTo(settings, pathOf(id)) }),
  list: (settings, after) => {
    const { url, headers } = requestTo(settings, '')
    url.searchParams.set('limit', '100')
    if (after !== undefined) url.searchParams.set('after_id', after)
    return { method: 'GET', url, headers }
  },
  cancel: (settings, id) => ({ method: 'POST', ...requestTo(settings, `${pathOf(id)}/cancel`) }),
  results: (settings, { id }) => [{ method: 'GET', ...requestTo(settings, `${pathOf(id)}/results`) }],
  remove: (settings, { id }) => [{ method: 'DELETE', ...requestTo(settings, pathOf(id)) }],
  read: (body) => {
    const batch = propertiesOf(body)
    const id = textIn(batch.id)
    const createdAt = timeIn(batch.created_at)
    if (id === undefined || !createdAt || typeof batch.processing_status !== 'string') return undefined
    const counts = propertiesOf(batch.request_counts)
    const failed = countIn(counts.errored) + countIn(counts.canceled) + countIn(counts.expired)
    const answered = countIn(counts.succeeded)
    return {
      id,
      state: batch.processing_status === 'ended' ? 'ended' : 'processing',
      fault: null,
      requests: countIn(counts.processing) + answered + failed,
      answered,
      failed,
      createdAt,
      expiresAt: timeIn(batch.expires_at),
      marker: undefined,
      files: { input: null, output: null, errors: null },
    }
  },
  readLine: (line) => {
    const { custom_id, result } = propertiesOf(line)
    const id = textIn(custom_id)
    const { type, message } = propertiesOf(result)
    return id === undefined ? undefined : { id, body: type === 'succeeded' ? message : undefined }
  },
}
