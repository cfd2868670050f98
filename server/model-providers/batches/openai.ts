// The Batch API of OpenAI, compatible endpoints, and Azure: https://platform.openai.com/docs/api-reference/batch
// https://learn.microsoft.com/azure/foundry/reference/rest/batches-create-batch
import { below, postJson } from '../requests/dialect.ts'
import { endpointOf, headersOf } from '../requests/dialects/azure-openai.ts'
import { bearer } from '../requests/dialects/openai-compatible.ts'
import type { ProviderSettings } from '../settings.ts'
import { type BatchDialect, countIn, propertiesOf, type RemoteBatch, textIn, wordIn } from './dialect.ts'

type Api = {
  /** Returns the URL for a path of the API, such as `/batches`. */
  urlOf: (settings: ProviderSettings, path: string) => URL
  headersOf: (settings: ProviderSettings) => Record<string, string>
  /** The path of a chat completion, as written in batches. */
  endpoint: string
  /** Whether a file only becomes usable some time after its upload. */
  checksFiles: boolean
}

/** The property of a batch's metadata that contains the marker. */
const markerKey = 'earshot_batch'

const states: Record<string, RemoteBatch['state']> = {
  failed: 'rejected',
  completed: 'ended',
  expired: 'ended',
  cancelled: 'ended',
}

const timeIn = (value: unknown): Date | null => (typeof value === 'number' ? new Date(value * 1_000) : null)

/** Returns the code of the first error. Validation errors reject the whole batch. */
const faultIn = (errors: unknown): string | null => {
  const { data } = propertiesOf(errors)
  return Array.isArray(data) ? wordIn(propertiesOf(data[0]).code) : null
}

const read: BatchDialect['read'] = (body) => {
  const batch = propertiesOf(body)
  const id = textIn(batch.id)
  const createdAt = timeIn(batch.created_at)
  if (id === undefined || !createdAt || typeof batch.status !== 'string') return undefined
  const counts = propertiesOf(batch.request_counts)
  return {
    id,
    state: states[batch.status] ?? 'processing',
    fault: faultIn(batch.errors),
    requests: countIn(counts.total),
    answered: countIn(counts.completed),
    failed: countIn(counts.failed),
    createdAt,
    expiresAt: timeIn(batch.expires_at),
    marker: textIn(propertiesOf(batch.metadata)[markerKey]),
    files: {
      input: textIn(batch.input_file_id) ?? null,
      output: textIn(batch.output_file_id) ?? null,
      errors: textIn(batch.error_file_id) ?? null,
    },
  }
}

/** JSON without line breaks can't contain the boundary at the start of a line. */
const multipart = (marker: string, content: string) => {
  const boundary = `earshot-${marker}`
  const part = (disposition: string, text: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${text}\r\n`
  const file = `name="file"; filename="earshot-${marker}.jsonl"\r\nContent-Type: application/jsonl`
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: `${part('name="purpose"', 'batch')}${part(file, content)}--${boundary}--\r\n`,
  }
}

const batchesPath = (id: string): string => `/batches/${encodeURIComponent(id)}`
const filePath = (id: string): string => `/files/${encodeURIComponent(id)}`

const dialectOf = ({ urlOf, headersOf: headers, endpoint, checksFiles }: Api): BatchDialect => ({
  upload: (settings, { marker, lines }) => {
    const content = lines.map(
      ({ id, body }) => `{"custom_id":${JSON.stringify(id)},"method":"POST","url":"${endpoint}","body":${body}}\n`,
    )
    const form = multipart(marker, content.join(''))
    return {
      method: 'POST',
      url: urlOf(settings, '/files'),
      headers: { ...headers(settings), ...form.headers },
      body: form.body,
    }
  },
  readUpload: (body) => textIn(propertiesOf(body).id),
  ...(checksFiles && {
    checkUpload: (settings: ProviderSettings, file: string) => ({
      method: 'GET' as const,
      url: urlOf(settings, filePath(file)),
      headers: headers(settings),
    }),
  }),
  create: (settings, { marker, file }) =>
    postJson(urlOf(settings, '/batches'), headers(settings), {
      input_file_id: file,
      endpoint,
      completion_window: '24h',
      metadata: { [markerKey]: marker },
    }),
  get: (settings, id) => ({ method: 'GET', url: urlOf(settings, batchesPath(id)), headers: headers(settings) }),
  list: (settings, after) => {
    const url = urlOf(settings, '/batches')
    url.searchParams.set('limit', '100')
    if (after !== undefined) url.searchParams.set('after', after)
    return { method: 'GET', url, headers: headers(settings) }
  },
  cancel: (settings, id) => ({
    method: 'POST',
    url: urlOf(settings, `${batchesPath(id)}/cancel`),
    headers: headers(settings),
  }),
  results: (settings, { files }) =>
    [files.output, files.errors].flatMap((file) =>
      file === null
        ? []
        : [{ method: 'GET', url: urlOf(settings, `${filePath(file)}/content`), headers: headers(settings) }],
    ),
  remove: (settings, { files }) =>
    [files.input, files.output, files.errors].flatMap((file) =>
      file === null ? [] : [{ method: 'DELETE', url: urlOf(settings, filePath(file)), headers: headers(settings) }],
    ),
  read,
  readLine: (line) => {
    const { custom_id, response } = propertiesOf(line)
    const id = textIn(custom_id)
    const { status_code, body } = propertiesOf(response)
    return id === undefined ? undefined : { id, body: status_code === 200 ? body : undefined }
  },
})

export const openaiBatches = dialectOf({
  urlOf: ({ baseUrl }, path) => below(baseUrl, path),
  headersOf: ({ apiKey }) => bearer(apiKey),
  endpoint: '/v1/chat/completions',
  checksFiles: false,
})

export const azureBatches = dialectOf({
  urlOf: ({ baseUrl, apiVersion }, path) => {
    const url = below(endpointOf(baseUrl), `/openai${apiVersion === undefined ? '/v1' : ''}${path}`)
    if (apiVersion !== undefined) url.searchParams.set('api-version', apiVersion)
    return url
  },
  headersOf: ({ apiKey }) => headersOf(apiKey),
  endpoint: '/v1/chat/completions',
  checksFiles: true,
})
