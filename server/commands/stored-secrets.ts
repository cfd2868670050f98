import { secretContext as destinationPlace } from '../destinations/settings.ts'
import { secretContext as schedulePlace } from '../export-schedules/secret.ts'
import { payloadContext } from '../integrations/payload.ts'
import { secretContext as integrationPlace } from '../integrations/secret.ts'
import { keyContext } from '../integrations/sync/key.ts'
import { secretContext as providerPlace } from '../model-providers/settings.ts'
import type { Db } from '../platform/db/database.ts'
import { mailContext as mailPlace } from '../platform/mail/jobs.ts'
import type { SealedText } from '../platform/secrets/key-check.ts'
import { listNewestSealedAllOrgs } from '../platform/secrets/queries.ts'
import { secretContext as endpointPlace } from '../webhooks/secret.ts'

/** All columns that contain sealed values, and the contexts in which the values were sealed. */
const columns = [
  { table: 'integrations', id: 'id', column: 'secret', since: 'updated_at', place: integrationPlace },
  { table: 'integration_syncs', id: 'integration_id', column: 'api_key', since: 'updated_at', place: keyContext },
  { table: 'integration_deliveries', id: 'id', column: 'payload', since: 'received_at', place: payloadContext },
  { table: 'webhook_endpoints', id: 'id', column: 'secret', since: 'updated_at', place: endpointPlace },
  { table: 'destinations', id: 'id', column: 'secret', since: 'updated_at', place: destinationPlace },
  { table: 'model_providers', id: 'id', column: 'secret', since: 'updated_at', place: providerPlace },
  { table: 'export_schedules', id: 'id', column: 'secret', since: 'updated_at', place: schedulePlace },
  { table: 'mails', id: 'id', column: 'text', since: 'created_at', flag: 'sealed', place: mailPlace },
] as const

const newestOfEach = 3

/** Lists the newest sealed values of every kind. */
export const listStoredSecrets = async (db: Db): Promise<SealedText[]> => {
  const lists = columns.map(async ({ place, ...column }) => {
    const rows = await listNewestSealedAllOrgs(db, column, newestOfEach)
    return rows.map(({ org, id, sealed }) => ({ sealed, context: place(org, id) }))
  })
  return (await Promise.all(lists)).flat()
}
