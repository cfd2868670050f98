import type { FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'

/** Requests that change nothing, which other sites may begin: what they answer stays unread there. */
export const isReading = ({ method }: FastifyRequest): boolean =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

/** Refuses a request that a page of another origin sent, or that does not say which page did. */
export const checkOrigin = ({ headers }: FastifyRequest, baseUrl: string): void => {
  if (headers.origin === new URL(baseUrl).origin) return
  throw new ApiError('forbidden', `This is answered to pages of ${baseUrl} alone; open Earshot there.`)
}
