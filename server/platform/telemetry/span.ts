// Creates spans. Without telemetry, this costs only a comparison, and the SDK is not loaded.
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'

/** Each process has one tracer, as it has one log. */
let tracer: Tracer | undefined
const current = new AsyncLocalStorage<Span>()

export const traceWith = (given: Tracer | undefined): void => {
  tracer = given
}

const kinds = { server: SpanKind.SERVER, job: SpanKind.CONSUMER, client: SpanKind.CLIENT }

export type SpanOptions = {
  kind: keyof typeof kinds
  attributes?: Attributes
  /** The W3C Trace Context that a caller sent in `traceparent`. */
  traceparent?: string | undefined
  /** The start in milliseconds since 1970, if the work started before its span. */
  startTime?: number
}

const traceparentForm = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/

const remoteContext = (traceparent: string | undefined): SpanContext | undefined => {
  const [, traceId, spanId, flags] = traceparentForm.exec(traceparent ?? '') ?? []
  if (!traceId || !spanId || !flags) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}

/** Starts a span, which the caller ends. Returns undefined without telemetry. */
export const beginSpan = (name: string, options: SpanOptions): Span | undefined => {
  if (!tracer) return undefined
  const { kind, attributes = {}, traceparent, startTime } = options
  const remote = remoteContext(traceparent)
  const parent = current.getStore()
  const around = remote
    ? trace.setSpanContext(ROOT_CONTEXT, remote)
    : parent
      ? trace.setSpan(ROOT_CONTEXT, parent)
      : ROOT_CONTEXT
  return tracer.startSpan(name, { kind: kinds[kind], attributes, ...(startTime && { startTime }) }, around)
}

/** Starts a span with a parent. Background work without a parent, such as checking the queue, is not traced. */
export const beginChildSpan = (name: string, options: SpanOptions): Span | undefined =>
  tracer && current.getStore() ? beginSpan(name, options) : undefined

export const within = <T>(span: Span, run: () => T): T => current.run(span, run)

/** Ends a span. Records an error's kind, but not its message, which can contain a tenant's data. */
export const endSpan = (span: Span | undefined, error?: unknown): void => {
  if (!span) return
  if (error !== undefined) {
    span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

/** Runs a function in a new span, which ends when the function does. */
const inSpan = async <T>(name: string, options: SpanOptions, run: (span?: Span) => Promise<T>): Promise<T> => {
  const span = beginSpan(name, options)
  if (!span) return run()
  try {
    const result = await within(span, () => run(span))
    endSpan(span)
    return result
  } catch (error) {
    endSpan(span, error)
    throw error
  }
}

/** Runs an outgoing request in a span. Records only the URL's host, because the rest can be confidential. */
export const inRequestSpan = <R extends { statusCode: number }>(
  method: string,
  url: URL,
  send: () => Promise<R>,
): Promise<R> =>
  inSpan(
    method,
    { kind: 'client', attributes: { 'http.request.method': method, 'server.address': url.hostname } },
    async (span) => {
      const response = await send()
      span?.setAttribute('http.response.status_code', response.statusCode)
      return response
    },
  )
