import type { App } from '../platform/http/http.ts'
import { answers, NoQuery } from '../platform/http/schemas.ts'
import type { StreamDeps } from './deps.ts'
import { EventStream } from './schema.ts'

/**
 * Returns the delay before reconnecting. It is random, so that the clients of a stopped process don't all reconnect in
 * the same second.
 */
const retryMs = () => 1_000 + Math.floor(Math.random() * 4_000)

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  // These headers keep proxies from changing, compressing, or buffering the stream.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

export const stream = (app: App, { streams }: StreamDeps): void => {
  // Fastify waits for open requests, but streams don't end by themselves.
  app.addHook('preClose', async () => streams.drain())

  app.get(
    '/v1/stream',
    {
      config: { access: { role: 'viewer' }, lasting: true },
      schema: {
        tags: ['Events'],
        operationId: 'streamEvents',
        summary: 'Stream changes as server-sent events',
        description:
          'Each event is a JSON object with `kind` (`created`, `updated`, `deleted`), `resource`, and the `id` of ' +
          'the resource that changed, but not its content. Without an `id`, any resource of this kind may have ' +
          'changed. For `results`, the `id` is the conversation’s. After `resync`, request everything you show ' +
          'again, because some changes could not be sent. To catch up after losing the connection, send the ID of ' +
          'the last event as `Last-Event-ID`, as browsers do. A comment every 20 seconds keeps the connection open. ' +
          'Changes within half a second are sent together. You only get events about resources that you can read. ' +
          'The stream ends when your access ends.',
        querystring: NoQuery,
        response: answers({ 200: EventStream }, 401, 429, 503),
      },
    },
    async (request, reply) => {
      reply.headers(headers)
      if (request.method === 'HEAD') return reply.send('')
      const lastEventId = request.headers['last-event-id']
      const reader = {
        actor: request.actor,
        response: reply.raw,
        lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
        identifyAgain: () => app.identifyAgain(request),
      }
      await streams.open(reader, () => {
        reply.hijack()
        reply.raw.writeHead(200, reply.getHeaders() as Record<string, string>)
        reply.raw.write(`retry: ${retryMs()}\n\n`)
      })
      return reply
    },
  )
}
