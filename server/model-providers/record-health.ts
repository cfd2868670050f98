import { publishChanges } from '../platform/changes/changes.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Log } from '../platform/log.ts'
import { type SealedProvider, updateProviderHealth } from './queries.ts'

type KnownHealth = Pick<SealedProvider, 'id' | 'failingSince' | 'lastFault'>

/**
 * Records the time since which a provider has been failing, and the reason. Most requests don't change the state that
 * was read with the provider, so they write nothing.
 */
export const openProviderHealth = ({ db, clock, log }: { db: Db; clock: Clock; log: Log }) => {
  let recording: Promise<void> = Promise.resolve()

  const record = async (org: OrgId, id: string, fault: string | null): Promise<void> => {
    await updateProviderHealth(db, org, id, fault, clock.now())
    await publishChanges(db, org, { resource: 'model-providers', kind: 'updated', ids: [id] })
  }

  const note = (org: OrgId, { id, failingSince, lastFault }: KnownHealth, fault: string | null): void => {
    const isKnown = fault === null ? failingSince === null : failingSince !== null && lastFault === fault
    if (isKnown) return
    recording = recording
      .then(() => record(org, id, fault))
      .catch((err: unknown) => log.warn({ err }, 'could not record whether a model provider works'))
  }

  return { note, close: () => recording }
}

export type ProviderHealth = ReturnType<typeof openProviderHealth>
