import { getOrganization } from '../organizations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { listSoundSettings } from './queries.ts'

/** The model value that disables transcription for an agent. */
export const noModel = 'none'

export type SoundSettings = {
  /** The provider and its model, or null if recordings are not transcribed. */
  transcriptionModel: string | null
  agentChannel: 0 | 1 | null
}

/** Returns the settings for the recordings of agents. They default to the organization's settings. */
export const soundSettingsOf = async (db: Db, org: OrgId, agentIds: string[]): Promise<Map<string, SoundSettings>> => {
  const organization = await getOrganization(db, org)
  const agents = await listSoundSettings(db, org, agentIds)
  return new Map(
    agents.map(({ id, transcriptionModel, agentChannel }) => {
      const model = transcriptionModel ?? organization.transcriptionModel
      return [
        id,
        {
          transcriptionModel: model === noModel ? null : model,
          agentChannel: agentChannel ?? organization.agentChannel,
        },
      ]
    }),
  )
}
