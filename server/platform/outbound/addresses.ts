// Decides which addresses can be reached through tenants' URLs.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * The registry of special-purpose addresses (RFC 6890 and its updates), and one additional network. All other IPv4
 * addresses are public.
 */
const specialIPv4 = parseNetworks([
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and the metadata service of Alibaba Cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // a public address that Azure serves to its machines internally
  '169.254.0.0/16', // link-local, and the metadata service of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, and the metadata service of Oracle Cloud
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
])

/**
 * Only global unicast is public in IPv6. This excludes loopback, unique local addresses (with the metadata service of
 * AWS), link-local addresses, multicast, IPv4-compatible addresses, local NAT64, and everything unassigned.
 */
const globalIPv6 = parseNetworks(['2000::/3'])
const specialIPv6 = parseNetworks([
  '2001::/23', // protocol assignments: Teredo, benchmarks, AMT, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which is routed to the IPv4 address inside
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
])

/** IPv6 networks that end in an IPv4 address: mapped addresses and NAT64. The IPv4 address is checked instead. */
const carriersOfIPv4 = parseNetworks(['::ffff:0:0/96', '64:ff9b::/96'])

export function parseNetworks(networks: string[]): Network[] {
  return networks.map((network) => ipaddr.parseCIDR(network))
}

const within = (address: ipaddr.IPv4 | ipaddr.IPv6, networks: Network[]) =>
  networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))

/**
 * Normalizes an IPv6 address that contains dots. ipaddr.js treats ::8.8.8.8 as a mapped address, which it is not, but
 * the URL parser reads all formats correctly.
 */
const withoutDots = (text: string) => new URL(`http://[${text}]/`).hostname.slice(1, -1)

/** Parses an address from a resolver or a socket. Returns undefined for anything else. */
const readAddress = (text: string) => {
  // A zone (fe80::1%eth0) names an interface of this machine.
  if (isIP(text) === 0 || text.includes('%')) return undefined
  const written = ipaddr.parse(isIP(text) === 6 ? withoutDots(text) : text)
  const address = within(written, carriersOfIPv4) ? new ipaddr.IPv4(written.toByteArray().slice(-4)) : written
  return { written, address }
}

/** Returns whether an address is in one of these networks, in whatever format it is written. */
export const isWithin = (text: string, networks: Network[]): boolean => {
  const read = readAddress(text)
  return read !== undefined && (within(read.address, networks) || within(read.written, networks))
}

export const isPublicAddress = (text: string): boolean => {
  const address = readAddress(text)?.address
  if (address === undefined) return false
  return address.kind() === 'ipv4'
    ? !within(address, specialIPv4)
    : within(address, globalIPv6) && !within(address, specialIPv6)
}
