import { opsgenieUrls } from '../../../server/destinations/kinds/opsgenie.ts'
import type { Outbound } from '../../../server/platform/outbound/outbound.ts'

/** Matches the fixed addresses of services that fakes replace. */
const hosts = new RegExp(`^(https://events\\.pagerduty\\.com|${opsgenieUrls.us}|${opsgenieUrls.eu})(?=/)`)

/** Returns a client that reaches the fakes instead of the services. */
export const redirectTo = (outbound: Outbound, origin: string): Outbound => ({
  ...outbound,
  stream: (url, options) => outbound.stream(String(url).replace(hosts, origin), options),
})
