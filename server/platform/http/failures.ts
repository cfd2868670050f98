import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isFullDisk, isPassingDatabaseError } from '../db/errors.ts'
import { ApiError, type ErrorKind } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Methods } from './methods.ts'
import { responseUnderway } from './node-internals.ts'
import { shownRequestId } from './request-id.ts'
import { securityHeaders } from './security-headers.ts'
import { validationError } from './validation.ts'

const unknownAddress = 'No endpoint has this path. See /docs for the API reference.'

/** The kind of error for each status of Fastify's own errors. */
const foreign: Record<number, [ErrorKind, string]> = {
  404: ['notFound', unknownAddress],
  413: ['tooLarge', 'The body exceeds the size limit of this operation.'],
  414: ['invalid', 'The URL is too long.'],
  415: ['unsupportedMediaType', 'Send the body as application/json.'],
}

const fullDisk = 'The disk of the database is full. The operator has to free some space.'

const toApiError = (error: FastifyError | ApiError, request: FastifyRequest): ApiError => {
  if (error instanceof ApiError) return error
  if (error.validation) return validationError(request, error)
  if (isPassingDatabaseError(error)) {
    const reason = isFullDisk(error) ? fullDisk : request.server.databaseFault()
    return new ApiError('unavailable', reason ?? 'The database is unavailable. Try again in a moment.', {
      retryAfterSeconds: 2,
    })
  }
  // A stream is decompressed while it is handled, so these errors occur in the handler. A DOMException has a number as
  // its code, for example if it is the reason of an aborted signal.
  if (typeof error.code === 'string' && error.code.startsWith('Z_'))
    return new ApiError('invalid', 'The body is not valid gzip, or it is incomplete.')
  const status = error.statusCode ?? 500
  if (status >= 500) {
    return new ApiError('internal', 'Something went wrong. Tell the operator the request ID.', {
      requestId: shownRequestId(request),
    })
  }
  const [kind, message] = foreign[status] ?? ['invalid', error.message]
  return new ApiError(kind, message)
}

const send = (error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply) => {
  const failure = toApiError(error, request)
  if (failure.kind === 'internal') request.log.error({ requestId: request.id, err: error }, 'a request failed')
  else if (failure !== error && failure.kind === 'unavailable')
    request.log.warn({ requestId: request.id, err: error }, 'the database failed a request')
  if (failure.status === 401) reply.header('www-authenticate', 'Bearer')
  const retryAfter = failure.details?.retryAfterSeconds
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  return reply.code(failure.status).type('application/json; charset=utf-8').send(failure.body)
}

/** Converts every thrown value to an error in the API's format. All conversions happen here. */
export const addFailures = (app: FastifyInstance, methods: Methods): void => {
  app.setErrorHandler<FastifyError>(send)
  const pathOf = ({ url }: FastifyRequest) => url.replace(/[?#].*$/s, '')
  const answerNoRoute = (request: FastifyRequest, reply: FastifyReply) => {
    const allow = methods.of(pathOf(request))?.join(', ')
    if (allow === undefined) return send(new ApiError('notFound', unknownAddress), request, reply)
    reply.header('allow', allow)
    return send(new ApiError('methodNotAllowed', `This path supports ${allow}.`), request, reply)
  }
  app.setNotFoundHandler(answerNoRoute)
  app.addHook('onRequest', (request, reply, done) => {
    const byParameter = request.routeOptions.url?.includes(':')
    // The router treats a trailing slash as an empty ID.
    const isEmpty = byParameter && pathOf(request).endsWith('/')
    if (isEmpty || (byParameter && methods.isMistaken(request.method, pathOf(request)))) answerNoRoute(request, reply)
    else done()
  })
  // Node would respond to an unknown expectation with a bare 417. HTTP allows servers to ignore it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  // The service supports no other protocol. If a request with a body asks for one, Node sometimes loses the data that
  // follows, so the connection is closed.
  app.server.prependListener('request', (request, response) => {
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
  })
}

/**
 * Responds to a malformed path. Such a request has no route and runs no hooks, so Fastify expects the complete response
 * here.
 */
export const answerMalformedUrl = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
  reply.headers({ ...securityHeaders, 'x-request-id': request.id })
  const message =
    error.code === 'FST_ERR_MAX_PARAM_LENGTH'
      ? 'A part of the path is too long.'
      : 'The URL is not valid percent-encoded UTF-8.'
  return send(new ApiError('invalid', message), request, reply)
}

/**
 * The time for which the remaining data of a broken request is read and discarded, so that its sender can read the
 * response.
 */
const lingerMs = 2_000

const brokenSockets = new WeakSet<Socket>()

const brokenRequest = (code: string | undefined): ApiError => {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ApiError('headersTooLarge', 'The request headers are larger than 16 KiB.')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('tooSlow', 'The request did not arrive in time.')
  return new ApiError('invalid', 'This is not a valid HTTP/1.1 request.')
}

const writeAnswer = (failure: ApiError): string => {
  const body = JSON.stringify(failure.body)
  const headers = {
    ...securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': newId(),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\n${lines.join('')}\r\n${body}`
}

/**
 * Responds to input that Node's HTTP parser rejects. It never becomes a request, so the response is written to the
 * socket.
 */
export const answerBrokenRequest = (error: NodeJS.ErrnoException, socket: Socket): void => {
  // The parser reports every further chunk. Closing the connection now would reset it, and the response would be lost.
  if (brokenSockets.has(socket)) return
  brokenSockets.add(socket)
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  // An earlier request's response may still be in progress, and must not be mixed with this one.
  const underway = responseUnderway(socket)
  const end = (answer = '') => {
    socket.end(answer)
    const linger = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(linger))
  }
  if (underway?.req.complete) underway.once('close', () => end())
  else if (underway?.headersSent) end()
  else end(writeAnswer(brokenRequest(error.code)))
}
