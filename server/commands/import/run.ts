import type { Earshot, ImportResult, NewConversation } from '../../../client/src/earshot.ts'
import type { ProgressLine } from '../progress.ts'
import { type CallSource, type ImportBody, readBody } from './bodies.ts'
import type { Rejects } from './rejects.ts'
import type { ImportSource } from './sources.ts'
import type { openState } from './state.ts'
import { type ReadValue as Value, valuesOf } from './values.ts'
import { openVersions } from './versions.ts'

/** Reads, converts, sends, and records values in order, with several requests in flight. */

const concurrency = 3
/** The number of conversations in a request. After a crash, only the requests that were in flight are repeated. */
const chunkSize = 100
/**
 * Collects garbage after this many responses. Otherwise, the heap would grow to several GiB on machines with a lot of
 * memory, because a hundred calls take a megabyte or more.
 */
const collectEvery = 2_000
/** The retries take about two minutes, because a restart of the service can take that long. */
const retries = 10

type ValuePosition = { file: string; number: number }

/**
 * The outcome for a value: whether it was sent, or why not. Consecutive ignored values form one entry with the last
 * position.
 */
type HandledValue = ValuePosition & ({ sent: true } | { ignored: number } | { fault: string })

type Import = {
  earshot: Earshot
  sources: ImportSource[]
  options: { from: CallSource | undefined; agent: string | undefined; metadataBytes: number; takesMetrics: boolean }
  state: Awaited<ReturnType<typeof openState>>
  rejects: Rejects
  progress: ProgressLine
  /** Stops reading and waits for pending requests. */
  isInterrupted: () => boolean
  signal: AbortSignal
}

export const runImport = async ({
  earshot,
  sources,
  options,
  state,
  rejects,
  progress,
  isInterrupted,
  signal,
}: Import) => {
  const { counts } = state.state
  const getVersion = openVersions(earshot, { signal, retries })
  const totalBytes = sources.reduce((sum, { bytes }) => sum + bytes, 0)
  let readBytes = 0
  /** Values that were read but not settled yet, in the order in which they were sent. */
  const under: HandledValue[] = []
  let unanswered = 0
  let answered = 0
  /** A reading error. It is reported after the values before it were sent and recorded. */
  let fault: unknown

  async function* conversations(): AsyncGenerator<NewConversation> {
    try {
      yield* readAll()
    } catch (error) {
      fault = error
    }
  }

  async function* readAll(): AsyncGenerator<NewConversation> {
    for (const source of sources) {
      const done = state.doneOf(source.name, source.fingerprint)
      let number = 0
      for await (const read of valuesOf(source.open(countBytes))) {
        if (isInterrupted()) return
        number++
        const conversation = number > done && (await prepare({ file: source.name, number }, read))
        if (conversation) yield conversation
      }
    }
  }

  const countBytes = (bytes: number): void => {
    readBytes += bytes
  }

  /** Returns the conversation to send. If the value is not a conversation, records that and returns undefined. */
  const prepare = async (place: ValuePosition, read: Value): Promise<NewConversation | undefined> => {
    const body: ImportBody = 'fault' in read ? read : readBody(read.value, options)
    if (!('body' in body)) {
      noteUnsent(place, body)
      // Normally, the next response stores the progress, but no response is pending now.
      if (unanswered === 0) await settleUnsent()
      return undefined
    }
    const { wants } = body
    const conversation = wants ? { ...body.body, agentVersionId: await getVersion(wants) } : body.body
    under.push({ ...place, sent: true })
    unanswered++
    return conversation
  }

  const noteUnsent = (place: ValuePosition, body: Exclude<ImportBody, { body: unknown }>): void => {
    const last = under.at(-1)
    if ('fault' in body) under.push({ ...place, fault: body.fault })
    else if (last && 'ignored' in last && last.file === place.file) {
      Object.assign(last, { number: place.number, ignored: last.ignored + 1 })
    } else under.push({ ...place, ignored: 1 })
  }

  const note = async ({ file, number }: ValuePosition): Promise<void> => {
    const handled = counts.created + counts.updated + counts.unchanged + counts.ignored + counts.rejected
    const counted = `${handled.toLocaleString('en')} conversations, ${counts.rejected.toLocaleString('en')} rejected`
    progress.show('Importing', Math.min(readBytes, totalBytes), totalBytes || undefined, counted)
    state.state.rejectsBytes = rejects.bytes()
    await state.note(file, number)
  }

  /** Settles the values before the first one that was sent. */
  const settleUnsent = async (): Promise<void> => {
    for (let first = under[0]; first && !('sent' in first); first = under[0]) {
      under.shift()
      if ('ignored' in first) counts.ignored += first.ignored
      else {
        counts.rejected++
        const { file, number, fault } = first
        await rejects.write({ file, number, externalId: null, error: 'unreadable', message: fault })
      }
      await note(first)
    }
  }

  const settle = async ({ status, error, item }: ImportResult<NewConversation>): Promise<void> => {
    await settleUnsent()
    const place = under.shift()
    if (!place) throw new Error('The service returned more results than conversations')
    unanswered--
    answered++
    if (answered % collectEvery === 0) globalThis.gc?.()
    counts[status]++
    if (status === 'rejected') {
      const { file, number } = place
      const { error: kind = 'rejected', message = '', details } = error ?? {}
      await rejects.write({
        file,
        number,
        externalId: item.externalId ?? null,
        error: kind,
        message,
        ...(details && { details }),
      })
    }
    await note(place)
  }

  const sent = earshot.conversations.import(conversations(), { chunkSize, concurrency, retries, signal })
  try {
    for await (const result of sent) await settle(result)
    await settleUnsent()
    // If Ctrl-C ended the input, that is not an error.
    if (fault !== undefined && !isInterrupted()) throw fault
  } finally {
    await rejects.close()
    await state.save()
  }
}
