// Stands in for the batch APIs of providers. Batches stay in progress until a test ends them.
import { randomUUID } from 'node:crypto'

type Headers = Record<string, string | string[] | undefined>
type BatchRequest = { method: string; url: URL; headers: Headers; raw: string }

type Line = { custom_id: string; body: Record<string, unknown> }
type Fate = 'answered' | 'errored' | 'expired' | 'cancelled'

type StoredBatch = {
  id: string
  file: string
  metadata: Record<string, string>
  createdAt: Date
  status: 'in_progress' | 'ended' | 'cancelling' | 'failed'
  lines: Line[]
  results: { id: string; fate: Fate; answer: unknown }[]
}

/** Answers one request of a batch. Undefined if the provider fails. */
type AnswerLine = (body: Record<string, unknown>) => Promise<object | undefined>

/** A response of one JSON value per line. */
export class Lines {
  readonly text: string

  constructor(lines: object[]) {
    this.text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  }
}

const seconds = (date: Date) => Math.floor(date.getTime() / 1_000)
const expiryOf = ({ createdAt }: StoredBatch) => new Date(createdAt.getTime() + 86_400_000)

const isOpen = ({ status }: StoredBatch) => status === 'in_progress' || status === 'cancelling'

const endBatch = async (batch: StoredBatch, answerLine: AnswerLine, fateOf: (line: Line, at: number) => Fate) => {
  for (const [at, line] of batch.lines.entries()) {
    const fate = batch.status === 'cancelling' && at > 0 ? 'cancelled' : fateOf(line, at)
    const answer = fate === 'answered' ? await answerLine(line.body) : undefined
    const isFailed = fate === 'answered' && answer === undefined
    batch.results.push({ id: line.custom_id, fate: isFailed ? 'errored' : fate, answer })
  }
  batch.status = 'ended'
}

const openStore = (answerLine: AnswerLine) => {
  const batches: StoredBatch[] = []
  const files = new Map<string, Line[]>()
  const control = {
    batches,
    /** The IDs of what was deleted. */
    removed: [] as string[],
    /** The provider's time. */
    now: () => new Date(),
    /** What happens to the next batch: it is created but its response is lost, or the provider fails first. */
    next: undefined as 'lost' | 'failed' | undefined,
    /** Runs after each request was carried out, before the response is sent. */
    beforeResponse: async (): Promise<unknown> => undefined,
    /** Whether batches end as soon as their status is requested. */
    endsItself: false,
    /** The error code with which batches are rejected. */
    rejects: undefined as string | undefined,
    /** Ends all batches in progress. Requests are answered unless `fateOf` returns something else. */
    end: async (fateOf: (line: Line, at: number) => Fate = () => 'answered') => {
      for (const batch of batches.filter(isOpen)) await endBatch(batch, answerLine, fateOf)
    },
  }
  const create = (file: string, lines: Line[], metadata: Record<string, string>): StoredBatch => {
    const status = control.rejects === undefined ? 'in_progress' : 'failed'
    const id = `batch_${randomUUID()}`
    const batch: StoredBatch = { id, file, metadata, createdAt: control.now(), status, lines, results: [] }
    batches.push(batch)
    return batch
  }
  const find = (id: string) => batches.find((batch) => batch.id === id)
  const cancel = (id: string) => {
    const batch = find(id)
    if (batch?.status === 'in_progress') batch.status = 'cancelling'
    return batch
  }
  const remove = (id: string): object => {
    control.removed.push(id)
    return { id, deleted: true }
  }
  return { control, batches, files, create, find, cancel, remove }
}

type Store = ReturnType<typeof openStore>

/** Answers requests to a path. Returns null if the path's resource does not exist. */
type Route = {
  method: string
  path: RegExp
  answer: (asked: BatchRequest, ids: string[]) => object | null
}

type Show = (batch: StoredBatch) => object

/** Pages are short, so that tests see several. */
const pageSize = 2

const pageOf = (all: StoredBatch[], after: string | null, show: Show) => {
  const newest = all.toReversed()
  const from = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1
  const listed = newest.slice(from, from + pageSize)
  return { data: listed.map(show), has_more: from + pageSize < newest.length, last_id: listed.at(-1)?.id ?? null }
}

const shown = (batch: StoredBatch | undefined, show: Show) => (batch ? show(batch) : null)

const countsOf = ({ results, lines }: StoredBatch) => {
  const count = (fate: Fate) => results.filter((one) => one.fate === fate).length
  return { count, answered: count('answered'), failed: results.length - count('answered'), total: lines.length }
}

const openaiStatuses = { in_progress: 'in_progress', ended: 'completed', cancelling: 'cancelling', failed: 'failed' }

const showOpenai =
  ({ control }: Store): Show =>
  (batch) => {
    const { answered, failed, total } = countsOf(batch)
    const faults = { object: 'list', data: [{ code: control.rejects, message: 'No.', line: null }] }
    return {
      id: batch.id,
      object: 'batch',
      endpoint: '/v1/chat/completions',
      errors: batch.status === 'failed' ? faults : null,
      input_file_id: batch.file,
      completion_window: '24h',
      status: openaiStatuses[batch.status],
      output_file_id: answered > 0 ? `output-${batch.id}` : null,
      error_file_id: failed > 0 ? `errors-${batch.id}` : null,
      created_at: seconds(batch.createdAt),
      expires_at: seconds(expiryOf(batch)),
      request_counts: { total, completed: answered, failed },
      metadata: batch.metadata,
    }
  }

/** Reads the fields of a form. */
const fieldsOf = ({ headers, raw }: BatchRequest): Map<string, string> => {
  const [, boundary] = /^multipart\/form-data; boundary=(\S+)$/.exec(String(headers['content-type'])) ?? []
  const parts = raw.split(`--${boundary}`).slice(1, -1)
  return new Map(
    parts.map((part) => {
      const [head = '', ...content] = part.split('\r\n\r\n')
      return [/name="(\w+)"/.exec(head)?.[1] ?? '', content.join('\r\n\r\n').trim()]
    }),
  )
}

const resultsInFile = (store: Store, file: string): object | null => {
  const batch = store.batches.find(({ id }) => file.endsWith(id))
  const isOutput = file.startsWith('output-')
  const wanted = batch?.results.filter(({ fate }) => (fate === 'answered') === isOutput) ?? []
  const lines = wanted.map(({ id, fate, answer }) => ({
    id: `batch_req_${id}`,
    custom_id: id,
    response: isOutput ? { status_code: 200, request_id: 'req_1', body: answer } : null,
    error: isOutput ? null : { code: `batch_${fate}`, message: 'This request was not executed.' },
  }))
  return batch ? new Lines(lines) : null
}

const openaiRoutes = (store: Store, prefix: string): Route[] => {
  const show = showOpenai(store)
  const at = (path: string) => new RegExp(`^${prefix}${path}$`)
  return [
    {
      method: 'POST',
      path: at('/files'),
      answer: (asked) => {
        const fields = fieldsOf(asked)
        if (fields.get('purpose') !== 'batch') return null
        const id = `file-${randomUUID()}`
        const lines = (fields.get('file') ?? '').split('\n')
        store.files.set(
          id,
          lines.map((line) => JSON.parse(line)),
        )
        return { id, object: 'file', purpose: 'batch', status: 'processed' }
      },
    },
    { method: 'DELETE', path: at('/files/([^/]+)'), answer: (_, [id = '']) => store.remove(id) },
    {
      method: 'GET',
      path: at('/files/([^/]+)'),
      answer: (_, [id = '']) => (store.files.has(id) ? { id, status: 'processed' } : null),
    },
    { method: 'GET', path: at('/files/([^/]+)/content'), answer: (_, [id = '']) => resultsInFile(store, id) },
    {
      method: 'POST',
      path: at('/batches'),
      answer: ({ raw }) => {
        const { input_file_id: input, endpoint, completion_window: window, metadata } = JSON.parse(raw)
        const lines = store.files.get(input)
        if (!lines || endpoint !== '/v1/chat/completions' || window !== '24h') return null
        return show(store.create(input, lines, metadata))
      },
    },
    {
      method: 'GET',
      path: at('/batches'),
      answer: ({ url }) => pageOf(store.batches, url.searchParams.get('after'), show),
    },
    { method: 'GET', path: at('/batches/([^/]+)'), answer: (_, [id = '']) => shown(store.find(id), show) },
    { method: 'POST', path: at('/batches/([^/]+)/cancel'), answer: (_, [id = '']) => shown(store.cancel(id), show) },
  ]
}

const anthropicStatuses = { in_progress: 'in_progress', ended: 'ended', cancelling: 'canceling', failed: 'ended' }
const anthropicTypes = { answered: 'succeeded', errored: 'errored', expired: 'expired', cancelled: 'canceled' }

const showAnthropic: Show = (batch) => {
  const { count } = countsOf(batch)
  return {
    id: batch.id,
    type: 'message_batch',
    processing_status: anthropicStatuses[batch.status],
    request_counts: {
      processing: batch.lines.length - batch.results.length,
      succeeded: count('answered'),
      errored: count('errored'),
      canceled: count('cancelled'),
      expired: count('expired'),
    },
    ended_at: null,
    created_at: batch.createdAt.toISOString(),
    expires_at: expiryOf(batch).toISOString(),
    cancel_initiated_at: null,
    results_url: null,
  }
}

const anthropicRoutes = (store: Store): Route[] => {
  const at = (path: string) => new RegExp(`^/v1/messages/batches${path}$`)
  const show = showAnthropic
  return [
    {
      method: 'POST',
      path: at(''),
      answer: ({ raw }) => {
        const { requests } = JSON.parse(raw) as { requests: { custom_id: string; params: Line['body'] }[] }
        if (requests.some(({ custom_id }) => !/^[\w-]{1,64}$/.test(custom_id))) return null
        const lines = requests.map(({ custom_id, params }) => ({ custom_id, body: params }))
        return show(store.create('', lines, {}))
      },
    },
    {
      method: 'GET',
      path: at(''),
      answer: ({ url }) => pageOf(store.batches, url.searchParams.get('after_id'), show),
    },
    { method: 'GET', path: at('/([^/]+)'), answer: (_, [id = '']) => shown(store.find(id), show) },
    { method: 'DELETE', path: at('/([^/]+)'), answer: (_, [id = '']) => store.remove(id) },
    { method: 'POST', path: at('/([^/]+)/cancel'), answer: (_, [id = '']) => shown(store.cancel(id), show) },
    {
      method: 'GET',
      path: at('/([^/]+)/results'),
      answer: (_, [id = '']) => {
        const batch = store.find(id)
        const lines = batch?.results.map((one) => ({
          custom_id: one.id,
          result: { type: anthropicTypes[one.fate], ...(one.fate === 'answered' && { message: one.answer }) },
        }))
        return lines ? new Lines(lines) : null
      },
    },
  ]
}

const routesOf = (kind: string, store: Store): Route[] => {
  if (kind === 'openai-compatible') return openaiRoutes(store, '/v1')
  if (kind === 'azure-openai') return openaiRoutes(store, '/openai/v1')
  return kind === 'anthropic' ? anthropicRoutes(store) : []
}

/** Opens the batch API of a kind of provider, which may have none. */
export const openBatchStandIn = (kind: string, answerLine: AnswerLine) => {
  const store = openStore(answerLine)
  const { control } = store
  const routes = routesOf(kind, store)
  const creation = routes.find(({ method, path }) => method === 'POST' && /batches\$$/.test(path.source))
  /** Returns undefined if the request is not about batches, and null if the provider rejects it. */
  const answer = async (asked: BatchRequest): Promise<object | null | 'failure' | undefined> => {
    const route = routes.find(({ method, path }) => method === asked.method && path.test(asked.url.pathname))
    if (!route) return undefined
    const fate = route === creation ? control.next : undefined
    if (fate !== undefined) control.next = undefined
    if (fate === 'failed') return 'failure'
    if (control.endsItself && asked.method === 'GET') await control.end()
    const answered = route.answer(asked, route.path.exec(asked.url.pathname)?.slice(1) ?? [])
    await control.beforeResponse()
    return fate === 'lost' ? 'failure' : answered
  }
  return { control, answer }
}
