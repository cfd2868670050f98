import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isPassingDatabaseError } from '../db/errors.ts'
import { ApiError, type ErrorKind } from '../errors.ts'
import { newId } from '../ids.ts'
import { validationError } from './validation.ts'

/** Fastify's own refusals, by status. */
const foreign: Record<number, [ErrorKind, string]> = {
  404: ['notFound', 'There is nothing under this address; /docs lists what there is.'],
  413: ['tooLarge', 'The body is larger than this operation takes.'],
  414: ['invalid', 'The address is too long.'],
  415: ['unsupportedMediaType', 'Send the body as application/json.'],
}

const unknownRoute = () => new ApiError('notFound', 'There is nothing under this address; /docs lists what there is.')

const toApiError = (error: FastifyError | ApiError, request: FastifyRequest): ApiError => {
  if (error instanceof ApiError) return error
  if (error.validation) return validationError(request, error)
  if (isPassingDatabaseError(error)) {
    return new ApiError('unavailable', 'The database cannot be reached now; try again shortly.', {
      retryAfterSeconds: 2,
    })
  }
  const status = error.statusCode ?? 500
  if (status >= 500) {
    return new ApiError('internal', 'Something went wrong here; tell the operator the request id.', {
      requestId: request.id,
    })
  }
  const [kind, message] = foreign[status] ?? ['invalid', error.message]
  return new ApiError(kind, message)
}

const send = (error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply) => {
  const failure = toApiError(error, request)
  if (failure.kind === 'internal') request.log.error({ err: error }, 'a request failed')
  else if (failure !== error && failure.kind === 'unavailable')
    request.log.warn({ err: error }, 'the database failed a request')
  if (failure.status === 401) reply.header('www-authenticate', 'Bearer')
  const retryAfter = failure.details?.retryAfterSeconds
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  return reply.code(failure.status).type('application/json; charset=utf-8').send(failure.body)
}

/** One place where anything thrown becomes the published Error body. */
export const addFailures = (app: FastifyInstance): void => {
  app.setErrorHandler<FastifyError>(send)
  app.setNotFoundHandler((request, reply) => send(unknownRoute(), request, reply))
}

/** A path that cannot be decoded has no route, so Fastify asks here. */
export const answerMalformedUrl = (_error: FastifyError, request: FastifyRequest, reply: FastifyReply) =>
  send(new ApiError('invalid', 'The address is not valid percent-encoded UTF-8.'), request, reply)

/** What Node's HTTP parser refuses never becomes a request; the answer is written to the socket itself. */
export const answerBrokenRequest = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const failure =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new ApiError('headersTooLarge', 'The request headers are larger than 16 KiB.')
      : new ApiError('invalid', 'This is not a valid HTTP/1.1 request.')
  const body = JSON.stringify(failure.body)
  const reason = failure.status === 431 ? 'Request Header Fields Too Large' : 'Bad Request'
  socket.end(
    [
      `HTTP/1.1 ${failure.status} ${reason}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${newId()}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
