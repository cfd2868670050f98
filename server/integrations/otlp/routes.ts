import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { getIngestSettings } from '../../conversations/ingest/queries.ts'
import { isDeeperThan } from '../../conversations/transcripts/json.ts'
import type { Deps } from '../../deps.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import { ApiError } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { AnyQuery, answers, Closed, RawBody } from '../../platform/http/schemas.ts'
import { enqueueAssembly } from './jobs.ts'
import { decodeTraces, encodeResponse, TooManyMessages } from './proto.ts'
import { insertSpans } from './queries.ts'
import { readSpans } from './spans.ts'

/** Each nesting of a value takes four levels of JSON. */
const deepest = 200

const Received = Closed(
  {
    partialSuccess: Type.Optional(
      Closed({
        rejectedSpans: Type.String({ description: 'How many, as OTLP writes whole numbers in JSON.', examples: ['2'] }),
        errorMessage: Type.String({ examples: ['startTimeUnixNano is no instant'] }),
      }),
    ),
  },
  { description: 'Without `partialSuccess`, every span was taken.', examples: [{}] },
)

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
    if (error instanceof TooManyMessages) throw new ApiError('tooLarge', `${error.message}; send smaller batches.`)
    throw refused('The body is not an ExportTraceServiceRequest in protobuf.')
  }
}

const encodingOf = ({ headers }: FastifyRequest): 'json' | 'protobuf' => {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type === 'application/json') return 'json'
  if (type === 'application/x-protobuf') return 'protobuf'
  throw new ApiError('unsupportedMediaType', 'Send traces as application/json or application/x-protobuf.')
}

export const traces = (app: App, deps: Deps): void => {
  const { db, clock, config } = deps
  app.post(
    '/v1/otlp/v1/traces',
    {
      bodyLimit: config.limits.documentBytes,
      onRequest: async (request) => {
        encodingOf(request)
      },
      config: { access: { role: 'member' }, takes: 'bytes', foreign: true },
      schema: {
        tags: ['Integrations'],
        operationId: 'receiveTraces',
        summary: 'Receive OpenTelemetry traces of conversations (OTLP/HTTP)',
        description:
          'An `ExportTraceServiceRequest` as JSON or protobuf, plain or with gzip; the answer has the same encoding. Spans ' +
          'of one `gen_ai.conversation.id` (or `session.id`, `conversation.id`, `langfuse.session.id`, or else of one ' +
          'trace) become a conversation when nothing more came for a minute, or for ten where a trace still lacks its root.',
        body: RawBody,
        querystring: AnyQuery,
        response: answers({ 200: Received }, 400, 401, 403, 503),
      },
    },
    async (request, reply) => {
      const { actor } = request
      const encoding = encodingOf(request)
      // A request without a body has none, whatever its schema says.
      const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
      const given = encoding === 'json' ? parseJson(bytes) : parseProtobuf(bytes)
      if (isDeeperThan(given, deepest)) throw refused(`The body nests deeper than ${deepest} levels.`)
      const { redacts } = await getIngestSettings(db, actor.org)
      const { spans, rejected, reason } = readSpans(given, { redacts, now: clock.now() })
      const placeOf = ({ traceId, spanId }: { traceId: string; spanId: string }) => traceId + spanId
      // In one order, so that two requests never wait for each other in a circle.
      const ordered = spans.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
      await db.transaction().execute(async (trx) => {
        const grown = ordered.length > 0 ? await insertSpans(trx, actor.org, ordered, clock.now()) : []
        if (grown.length > 0) await enqueueAssembly(deps, trx, actor.org, grown)
        await recordAudit(trx, actor, 'traces.receive')
      })
      const answer =
        rejected > 0 ? { partialSuccess: { rejectedSpans: String(rejected), errorMessage: reason ?? '' } } : {}
      if (encoding === 'json') return reply.send(answer)
      // Bytes are sent as they are: the schema is that of the JSON.
      return reply.type('application/x-protobuf').send(encodeResponse(answer) as never)
    },
  )
}
