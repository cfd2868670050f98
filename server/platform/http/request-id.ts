import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller's own request ID: returned, and never used as ours. */
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

/** The request ID in logs and the audit log. */
export const requestIdsOf = ({ id, callerRequestId }: FastifyRequest) => ({ requestId: id, callerRequestId })

/** The request ID in the response. */
export const shownRequestId = ({ id, callerRequestId }: FastifyRequest): string => callerRequestId ?? id
