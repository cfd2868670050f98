import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** The request ID sent by the caller. It is returned, but never used as the service's own ID. */
    callerRequestId: string | undefined
  }
}

const saneRequestId = /^[\w.:-]{1,128}$/

export const addRequestIds = (app: FastifyInstance): void => {
  app.decorateRequest('callerRequestId', undefined)
  app.addHook('onRequest', (request, _reply, done) => {
    const given = request.headers['x-request-id']
    request.callerRequestId = typeof given === 'string' && saneRequestId.test(given) ? given : undefined
    done()
  })
}

/** Returns the request ID for logs and the audit log. */
export const requestIdsOf = ({ id, callerRequestId }: FastifyRequest) => ({ requestId: id, callerRequestId })

/** Returns the request ID for the response. */
export const shownRequestId = ({ id, callerRequestId }: FastifyRequest): string => callerRequestId ?? id
