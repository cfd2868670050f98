import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { ApiError } from '../errors.ts'

/** The URL of this service, and whether it was configured. */
export type OwnAddress = { config: Pick<Config, 'baseUrl'>; baseUrl: () => string }

/** Returns whether a request is safe. Other sites can send such requests, but can't read the response. */
export const isReading = ({ method }: FastifyRequest): boolean =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/**
 * Returns whether this machine served the page under the request's host name. In that case, `localhost` and `127.0.0.1`
 * are equivalent. Only accepts names of loopback addresses, because anyone could make another name point here.
 */
const isFromThisMachine = (origin: string, host: string | undefined): boolean =>
  host !== undefined &&
  origin === `http://${host.toLowerCase()}` &&
  URL.canParse(origin) &&
  loopback.test(new URL(origin).hostname)

/** Throws if the request comes from a page on another origin, or has no origin. */
export const checkOrigin = ({ headers }: FastifyRequest, { config, baseUrl }: OwnAddress): void => {
  const { origin, host } = headers
  if (origin === new URL(baseUrl()).origin) return
  if (origin !== undefined && config.baseUrl === undefined && isFromThisMachine(origin, host)) return
  throw new ApiError('forbidden', `Only pages from ${baseUrl()} can send this request. Open Earshot there.`)
}
