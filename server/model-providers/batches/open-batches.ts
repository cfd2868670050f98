// Sends requests to a provider as a batch, which it answers within a day for a lower price.
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { ModelPrompt, ModelReply } from '../requests/dialect.ts'
import { EndpointError } from '../requests/endpoint-error.ts'
import type { Endpoint } from '../requests/send.ts'
import type { ProviderKind, ProviderSettings } from '../settings.ts'
import { anthropicBatches } from './anthropic.ts'
import { type BatchDialect, type BatchDialects, propertiesOf, type RemoteBatch } from './dialect.ts'
import { downloadLines } from './lines.ts'
import { azureBatches, openaiBatches } from './openai.ts'

const dialects: BatchDialects = {
  'openai-compatible': openaiBatches,
  'azure-openai': azureBatches,
  anthropic: anthropicBatches,
}

/** A request in a batch. Its result contains its ID. */
export type BatchRequest = { id: string; prompt: ModelPrompt }

/** A result of a batch. Without a reply, the request failed, was cancelled, or expired. */
export type BatchAnswer = { id: string; reply: ModelReply | undefined }

type Sent = {
  marker: string
  requests: number
  /** A time shortly before the batch was sent. */
  since: Date
  /** Returns whether a batch is known to be another one. */
  isOther: (id: string) => boolean
}

export type BatchClient = {
  /** Uploads the requests. Returns the file, or null if the provider doesn't read requests from a file. */
  upload: (
    model: string,
    requests: readonly BatchRequest[],
    marker: string,
    signal: AbortSignal,
  ) => Promise<string | null>
  /** Creates the batch. If it fails with `down`, the provider may have created it nevertheless. */
  create: (
    model: string,
    requests: readonly BatchRequest[],
    upload: { marker: string; file: string | null },
    signal: AbortSignal,
  ) => Promise<RemoteBatch>
  /** Finds a batch that was sent, but has an unknown ID. */
  find: (sent: Sent, signal: AbortSignal) => Promise<RemoteBatch | undefined>
  get: (id: string, signal: AbortSignal) => Promise<RemoteBatch>
  cancel: (id: string, signal: AbortSignal) => Promise<void>
  /** Yields the results of a batch that ended. Their order does not change. */
  results: (batch: RemoteBatch, signal: AbortSignal) => AsyncGenerator<BatchAnswer>
  /** Deletes the provider's data for the batch. If that fails, the provider deletes it after some weeks. */
  remove: (batch: RemoteBatch, signal: AbortSignal) => Promise<void>
}

/** The maximum difference between the clocks of Earshot and a provider. */
const clockSkewMs = 10 * 60_000
/** The maximum number of pages of batches to search. */
const mostPages = 20
/** The wait for an uploaded file that can't be used yet. */
const fileWaitMs = 10_000

type Options = {
  kind: ProviderKind
  settings: ProviderSettings
  endpoint: Endpoint
  outbound: Pick<Outbound, 'stream'>
}

const parseJson = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const notABatch = () => new EndpointError('down', 'the endpoint returned no batch')

async function* downloadResults(
  { settings, endpoint, outbound }: Omit<Options, 'kind'>,
  dialect: BatchDialect,
  batch: RemoteBatch,
  signal: AbortSignal,
): AsyncGenerator<BatchAnswer> {
  for (const request of dialect.results(settings, batch)) {
    for await (const text of downloadLines(outbound, request, signal)) {
      const line = dialect.readLine(parseJson(text))
      if (line) yield { id: line.id, reply: line.body === undefined ? undefined : endpoint.read(line.body) }
    }
  }
}

/** Returns undefined if this kind of provider offers no batches. */
export const openBatches = ({ kind, settings, endpoint, outbound }: Options): BatchClient | undefined => {
  const dialect = dialects[kind]
  if (!dialect) return undefined

  const linesOf = (model: string, requests: readonly BatchRequest[]) =>
    Promise.all(
      requests.map(async ({ id, prompt }) => ({ id, body: (await endpoint.write(model, prompt)).body ?? '{}' })),
    )

  const readBatch = (body: unknown): RemoteBatch => {
    const batch = dialect.read(body)
    if (!batch) throw notABatch()
    return batch
  }

  const upload: BatchClient['upload'] = async (model, requests, marker, signal) => {
    if (!dialect.upload || !dialect.readUpload) return null
    const request = dialect.upload(settings, { marker, lines: await linesOf(model, requests) })
    const file = dialect.readUpload(await endpoint.send(request, signal))
    if (file === undefined) throw new EndpointError('refused', 'the endpoint returned no uploaded file')
    return file
  }

  /** Fails with `busy` as long as the file can't be used. */
  const requireFile = async (file: string | null, signal: AbortSignal) => {
    if (file === null || !dialect.checkUpload) return
    const { status } = propertiesOf(await endpoint.send(dialect.checkUpload(settings, file), signal))
    if (status === 'processed' || status === undefined) return
    const isBroken = status === 'error' || status === 'deleted'
    throw new EndpointError(
      isBroken ? 'refused' : 'busy',
      `the uploaded file is ${isBroken ? 'rejected' : 'not ready'}`,
      {
        retryAfterMs: fileWaitMs,
      },
    )
  }

  const create: BatchClient['create'] = async (model, requests, { marker, file }, signal) => {
    await requireFile(file, signal)
    const lines = file === null ? await linesOf(model, requests) : []
    return readBatch(await endpoint.send(dialect.create(settings, { marker, file, lines }), signal))
  }

  const find: BatchClient['find'] = async ({ marker, requests, since, isOther }, signal) => {
    const earliest = since.getTime() - clockSkewMs
    const isSent = (batch: RemoteBatch) =>
      batch.createdAt.getTime() >= earliest &&
      (batch.marker === undefined
        ? kind === 'anthropic' && batch.requests === requests && !isOther(batch.id)
        : batch.marker === marker)
    let after: string | undefined
    for (let page = 0; page < mostPages; page++) {
      const { data, has_more } = propertiesOf(await endpoint.send(dialect.list(settings, after), signal))
      if (!Array.isArray(data)) throw notABatch()
      const batches = data.flatMap((one) => dialect.read(one) ?? [])
      const sent = batches.find(isSent)
      if (sent) return sent
      const last = batches.at(-1)
      // The newest batches come first.
      if (has_more !== true || !last || last.createdAt.getTime() < earliest) return undefined
      after = last.id
    }
    return undefined
  }

  return {
    upload,
    create,
    find,
    get: async (id, signal) => readBatch(await endpoint.send(dialect.get(settings, id), signal)),
    cancel: async (id, signal) => void (await endpoint.send(dialect.cancel(settings, id), signal)),
    results: (batch, signal) => downloadResults({ settings, endpoint, outbound }, dialect, batch, signal),
    remove: async (batch, signal) => {
      for (const request of dialect.remove(settings, batch)) await endpoint.send(request, signal)
    },
  }
}
