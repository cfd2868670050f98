import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { getIngestSettings } from '../../conversations/ingest/queries.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { AnyQuery, answers, Closed, RawBody } from '../../platform/http/schemas.ts'
import { enqueueAssembly } from './jobs.ts'
import { encodeResponse } from './proto.ts'
import { insertSpans } from './queries.ts'
import { readTraces } from './read-traces.ts'

const Received = Closed(
  {
    partialSuccess: Type.Optional(
      Closed({
        rejectedSpans: Type.String({
          description: 'The count, in OTLP’s JSON notation for integers.',
          examples: ['2'],
        }),
        errorMessage: Type.String({ examples: ['startTimeUnixNano is not a valid time'] }),
      }),
    ),
  },
  { description: 'Without `partialSuccess`, every span was accepted.', examples: [{}] },
)

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
        summary: 'Send OpenTelemetry traces',
        description:
          'Accepts an OTLP/HTTP `ExportTraceServiceRequest` as JSON or protobuf, optionally gzipped, and ' +
          'responds in the same encoding. Spans with the same `gen_ai.conversation.id` (or `session.id`, ' +
          '`conversation.id`, `langfuse.session.id`, or trace) become a conversation a minute after the last ' +
          'span, or after ten minutes if the trace has no root span.',
        body: RawBody,
        querystring: AnyQuery,
        response: answers({ 200: Received }, 400, 401, 403, 503),
      },
    },
    async (request, reply) => {
      const { actor } = request
      const encoding = encodingOf(request)
      // The schema requires a body, but Fastify doesn't validate requests without one.
      const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
      const { redacts } = await getIngestSettings(db, actor.org)
      const order = { bytes, encoding, redacts, now: clock.now() }
      const { spans, rejected, reason } = await readTraces(deps.threads, actor.org, order)
      await db.transaction().execute(async (trx) => {
        const grown = await insertSpans(trx, actor.org, spans, clock.now())
        if (grown.length > 0) await enqueueAssembly(deps, trx, actor.org, grown)
        await recordAudit(trx, actor, 'traces.receive')
      })
      const answer =
        rejected > 0 ? { partialSuccess: { rejectedSpans: String(rejected), errorMessage: reason ?? '' } } : {}
      if (encoding === 'json') return reply.send(answer)
      // Fastify sends bytes without serializing them. The schema describes the response's JSON form.
      return reply.type('application/x-protobuf').send(encodeResponse(answer) as never)
    },
  )
}
