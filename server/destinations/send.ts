import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { newId } from '../platform/ids.ts'
import { deliverMessage } from './deliveries/jobs.ts'
import { insertMessageDelivery } from './deliveries/queries.ts'
import type { Message } from './message.ts'

/**
 * Sends a message to a destination as part of the caller's transaction. Messages about the same subject are sent in
 * order. If the destination was unreachable, only the newest message is sent. Returns the delivery's ID, or undefined
 * if the destination does not exist.
 */
export const sendMessage = async (
  { jobs, clock }: Pick<Deps, 'jobs' | 'clock'>,
  trx: Db,
  org: OrgId,
  { destinationId, subjectId, message }: { destinationId: string; subjectId: string; message: Message },
): Promise<string | undefined> => {
  const id = newId()
  const delivery = { id, destinationId, subjectId, message, now: clock.now() }
  if (!(await insertMessageDelivery(trx, org, delivery))) return undefined
  await jobs.enqueue(trx, deliverMessage, { organizationId: org, destinationId, deliveryId: id, attempt: 1 })
  return id
}
