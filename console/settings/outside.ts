// Checks whether a provider on the internet can reach an address.

const privateHosts = [
  /^localhost$/,
  /\.(localhost|local|internal|home|lan|test|localdomain)$/,
  // A name without a dot is only known within a local network.
  /^[^.:[]+$/,
  /^(0|10|127)\./,
  /^169\.254\./,
  /^192\.168\./,
  /^172\.(1[6-9]|2\d|3[01])\./,
  /^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
  /^\[(::1?|f[cd][\da-f]{2}:.*|fe[89ab][\da-f]:.*)\]$/,
]

/** Returns the reason why a provider can't call this address, or undefined if it probably can. */
export const reasonOutOfReach = (address: string): string | undefined => {
  const { protocol, hostname } = new URL(address)
  if (privateHosts.some((host) => host.test(hostname.toLowerCase()))) {
    return `${hostname} can only be reached from within your network, so the provider’s webhooks won’t arrive.`
  }
  return protocol === 'https:' ? undefined : 'This address isn’t encrypted. Most providers only send webhooks to https.'
}
