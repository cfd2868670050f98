import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { ApiError } from '../errors.ts'

/** Where this service is reached, and whether anybody said so. */
export type OwnAddress = { config: Pick<Config, 'baseUrl'>; baseUrl: () => string }

/** Requests that change nothing, which other sites may begin: what they answer stays unread there. */
export const isReading = ({ method }: FastifyRequest): boolean =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/**
 * Whether a page was served by this machine under the name that the request asks for: `localhost` and `127.0.0.1` are
 * then the same. Of loopback names alone, since any other could have been pointed here by whoever owns it.
 */
const isFromThisMachine = (origin: string, host: string | undefined): boolean =>
  host !== undefined &&
  origin === `http://${host.toLowerCase()}` &&
  URL.canParse(origin) &&
  loopback.test(new URL(origin).hostname)

/** Refuses a request that a page of another origin sent, or that does not say which page did. */
export const checkOrigin = ({ headers }: FastifyRequest, { config, baseUrl }: OwnAddress): void => {
  const { origin, host } = headers
  if (origin === new URL(baseUrl()).origin) return
  if (origin !== undefined && config.baseUrl === undefined && isFromThisMachine(origin, host)) return
  throw new ApiError('forbidden', `Only pages of ${baseUrl()} can send this request. Open Earshot there.`)
}
