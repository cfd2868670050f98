// Checks that a webhook receiver got each event at least once, always with the same ID and a valid signature.
import { verify } from '../../support/webhooks/receiver.ts'
import type { Stage } from '../stage.ts'

type DeliveredEvent = { id: string; type: string; data: { id: string } }

const messageIds = (deliveries: { id: string }[]) => new Set(deliveries.map(({ id }) => `msg_${id}`))

type Received = Stage['world']['receiver']['received'][number]

export const compareEvents = async ({ world, query, org, endpointId, endpointSecret }: Stage): Promise<string[]> => {
  const wanted: { what: string }[] = await query(
    `SELECT 'monitor_export.' || status || ' ' || id AS what FROM monitor_exports WHERE organization_id = $1
     UNION ALL SELECT 'finding.created ' || id FROM findings WHERE organization_id = $1
     UNION ALL SELECT 'review.completed ' || id FROM reviews WHERE organization_id = $1 AND status = 'completed'`,
    [org],
  )
  // This includes other rounds, because all rounds share the receiver.
  const all: { id: string; status: string; isOwn: boolean }[] = await query(
    'SELECT id, status, organization_id = $1 AND endpoint_id = $2 AS "isOwn" FROM webhook_deliveries',
    [org, endpointId],
  )
  const deliveries = all.filter(({ isOwn }) => isOwn)
  const known = messageIds(all)
  const own = messageIds(deliveries)
  const found = deliveries
    .filter(({ status }) => status !== 'succeeded')
    .map((one) => `a delivery is ${JSON.stringify(one)}`)
  const checkSignature = (id: string, received: Received) => {
    try {
      verify(endpointSecret, received, new Date(Number(received.headers['webhook-timestamp']) * 1_000))
    } catch (error) {
      found.push(`the signature of ${id} is wrong: ${error}`)
    }
  }
  const idsByEvent = new Map<string, Set<string>>()
  for (const received of world.receiver.received) {
    const id = String(received.headers['webhook-id'])
    if (!known.has(id)) found.push(`${id} was delivered but is not stored`)
    if (!own.has(id)) continue
    checkSignature(id, received)
    const { type, data }: DeliveredEvent = JSON.parse(received.body)
    const what = `${type} ${data.id}`
    idsByEvent.set(what, (idsByEvent.get(what) ?? new Set()).add(id))
  }
  for (const { what } of wanted) if (!idsByEvent.has(what)) found.push(`${what} was not delivered`)
  for (const [what, ids] of idsByEvent) {
    if (ids.size > 1) found.push(`${what} was delivered with ${ids.size} IDs`)
    if (!wanted.some((one) => one.what === what)) found.push(`${what} was delivered but is not true`)
  }
  return found
}
