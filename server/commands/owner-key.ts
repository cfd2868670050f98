import { createApiKey } from '../api-keys/create.ts'
import type { ServiceDeps } from '../deps.ts'
import { getFirstOwner } from '../members/queries.ts'
import { recordServiceAudit } from '../platform/audit/record.ts'
import type { OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'

/** Creates a key that acts for the earliest owner. The audit log names the operator as its creator. */
export const makeOwnerKey = ({ db, clock }: ServiceDeps, org: OrgId, name: string) =>
  db.transaction().execute(async (trx) => {
    const owner = await getFirstOwner(trx, org)
    const apiKey = await createApiKey(trx, clock, org, owner.userId, { name, role: 'owner' })
    const operator = { kind: 'service', keyId: null, requestId: `command line ${newId()}` } as const
    await recordServiceAudit(trx, org, operator, 'apiKey.create', { type: 'apiKey', id: apiKey.id })
    return apiKey
  })
