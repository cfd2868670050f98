import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the caller names the request by: shown to it, and never taken for an id of ours. */
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

/** As logs and the audit trail name a request. */
export const requestIdsOf = ({ id, callerRequestId }: FastifyRequest) => ({ requestId: id, callerRequestId })

/** As its caller sees it. */
export const shownRequestId = ({ id, callerRequestId }: FastifyRequest): string => callerRequestId ?? id
