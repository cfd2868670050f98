import { isUtf8 } from 'node:buffer'
import type { OrgId } from '../../platform/db/database.ts'
import { ApiError } from '../../platform/errors.ts'
import { defineTask } from '../../platform/threads/define-task.ts'
import type { Threads } from '../../platform/threads/threads.ts'
import { isDeeperThan } from '../../transcripts/json.ts'
import { decodeTraces, TooManyMessages } from './proto.ts'
import { readSpans, type SpanReading } from './spans.ts'

/** Reads short trace requests on the event loop, and long ones in a thread. */

/** The length is in bytes. */
const shortLength = 16 * 1024
/** The maximum depth of JSON. Each nesting of a value takes four levels. */
const deepest = 200

const refused = (message: string) => new ApiError('invalid', message, { issues: [{ path: '', message }] })

const parseJson = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw refused('The body is not valid UTF-8.')
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw refused(`The body is not valid JSON: ${(error as Error).message}.`)
  }
}

const parseProtobuf = (bytes: Buffer): unknown => {
  try {
    return decodeTraces(bytes)
  } catch (error) {
    if (error instanceof TooManyMessages) throw new ApiError('tooLarge', `${error.message}. Send smaller batches.`)
    throw refused('The body is not a protobuf ExportTraceServiceRequest.')
  }
}

type Order = { bytes: Uint8Array; encoding: 'json' | 'protobuf'; redacts: boolean; now: Date }

const readNow = ({ bytes, encoding, redacts, now }: Order): SpanReading => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const given = encoding === 'json' ? parseJson(buffer) : parseProtobuf(buffer)
  if (isDeeperThan(given, deepest)) throw refused(`The body is nested more than ${deepest} levels deep.`)
  const reading = readSpans(given, { redacts, now })
  const placeOf = ({ traceId, spanId }: { traceId: string; spanId: string }) => traceId + spanId
  // The spans have a fixed order, so that two requests never deadlock.
  return { ...reading, spans: reading.spans.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)) }
}

export const readLongTraces = defineTask({ name: 'integrations.read-traces', run: readNow })

export const readTraces = async (threads: Threads, org: OrgId, order: Order): Promise<SpanReading> =>
  order.bytes.length <= shortLength ? readNow(order) : threads.run(org, readLongTraces, order)
