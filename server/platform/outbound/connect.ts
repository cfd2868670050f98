// Connects only to permitted addresses.

import type { LookupAddress } from 'node:dns'
import { lookup as lookupName } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { isPublicAddress, isWithin, parseNetworks } from './addresses.ts'
import { OutboundError } from './errors.ts'

export type OutboundOptions = {
  /** Networks in CIDR form that can be reached although they are not public. */
  allowedPrivateAddresses: string[]
  /** Returns all addresses of a name. */
  resolve?: (hostname: string) => Promise<LookupAddress[]>
}

const connectTimeoutMs = 10_000

const forbidden = (hostname: string, allowedOnly: boolean) =>
  new OutboundError(
    'forbidden_address',
    allowedOnly
      ? `${hostname} requires https: http is only allowed for private networks in EARSHOT_ALLOWED_PRIVATE_ADDRESSES.`
      : `${hostname} does not have a public address.`,
  )

/** With `allowedOnly`, public addresses can't be reached. */
export type Connect = (signal: AbortSignal, allowedOnly: boolean) => buildConnector.connector

/**
 * Returns a connector that only connects to permitted addresses. The socket gets the address that was checked, so DNS
 * can't change it.
 */
export const openConnector = (options: OutboundOptions): Connect => {
  const allowed = parseNetworks(options.allowedPrivateAddresses)
  const resolve = options.resolve ?? ((hostname) => lookupName(hostname, { all: true }))

  return (signal, allowedOnly) => {
    const isAllowed = (address: string) => isWithin(address, allowed) || (!allowedOnly && isPublicAddress(address))
    const lookup: LookupFunction = (hostname, { all }, callback) => {
      const answer = (addresses: LookupAddress[]) => {
        const permitted = addresses.filter(({ address }) => isAllowed(address))
        const [first] = permitted
        if (!first) callback(forbidden(hostname, allowedOnly), '')
        else if (all) callback(null, permitted)
        else callback(null, first.address, first.family)
      }
      resolve(hostname).then(answer, (error: Error) => callback(error, ''))
    }
    const connect = buildConnector({
      timeout: connectTimeoutMs,
      allowH2: false,
      maxCachedSessions: 0,
      lookup,
      signal,
      // undici passes unknown options on to the socket, but its types then require a host and port as well.
    } as buildConnector.BuildOptions)
    return (target, callback) => {
      // A literal address is not resolved, so it is checked here.
      if (isIP(target.hostname) && !isAllowed(target.hostname)) {
        return callback(forbidden(target.hostname, allowedOnly), null)
      }
      connect(target, (...[error, socket]) => {
        if (error) return callback(error, null)
        // The actual address is checked again, in case a later version of Node or undici connects differently.
        const { remoteAddress } = socket
        if (remoteAddress && isAllowed(remoteAddress)) return callback(null, socket)
        socket.destroy()
        callback(remoteAddress ? forbidden(target.hostname, allowedOnly) : new Error('The connection was lost.'), null)
      })
    }
  }
}
