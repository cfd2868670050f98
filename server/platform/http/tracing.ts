import type { Span } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { beginSpan, endSpan, within } from '../telemetry/span.ts'

const spans = new WeakMap<FastifyRequest, Span>()

export const traceIdOf = (request: FastifyRequest): string | undefined => spans.get(request)?.spanContext().traceId

/** Machines send these requests every few seconds, and nobody needs the traces. */
const untraced = ['/healthz', '/readyz', '/metrics']

/** Creates a span for each request, named after its route, because a URL may contain confidential data. */
export const addTracing = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, _reply, done) => {
    const { method, routeOptions, headers } = request
    const route = routeOptions.url ?? 'unknown'
    if (untraced.includes(route)) return done()
    const span = beginSpan(`${method} ${route}`, {
      kind: 'server',
      attributes: { 'http.request.method': method, 'http.route': route, 'earshot.request_id': request.id },
      traceparent: typeof headers.traceparent === 'string' ? headers.traceparent : undefined,
    })
    if (!span) return done()
    spans.set(request, span)
    within(span, done)
  })
  // Reading a body continues outside the context in which it started.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request)
    if (!span) return done()
    within(span, done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request)
    if (span) {
      span.setAttribute('http.response.status_code', reply.statusCode)
      endSpan(span, reply.statusCode >= 500 ? `${reply.statusCode}` : undefined)
    }
    done()
  })
}
