import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { ApiError } from '../errors.ts'

/** The URL of this service, and whether it is configured. */
export type OwnAddress = { config: Pick<Config, 'baseUrl'>; baseUrl: () => string }

/** Safe requests, which other sites can send: they cannot read the response. */
export const isReading = ({ method }: FastifyRequest): boolean =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/**
 * Whether this machine served a page under the name of the request: `localhost` and `127.0.0.1` are then equal. Only
 * for loopback names, because anyone could point another name here.
 */
const isFromThisMachine = (origin: string, host: string | undefined): boolean =>
  host !== undefined &&
  origin === `http://${host.toLowerCase()}` &&
  URL.canParse(origin) &&
  loopback.test(new URL(origin).hostname)

/** Rejects a request from a page of another origin, or without an origin. */
export const checkOrigin = ({ headers }: FastifyRequest, { config, baseUrl }: OwnAddress): void => {
  const { origin, host } = headers
  if (origin === new URL(baseUrl()).origin) return
  if (origin !== undefined && config.baseUrl === undefined && isFromThisMachine(origin, host)) return
  throw new ApiError('forbidden', `Only pages of ${baseUrl()} can send this request. Open Earshot there.`)
}
