import type { Static } from 'typebox'
import { soundSettingsOf } from '../agents/sound-settings.ts'
import { readTurns } from '../conversations/ingest/tasks.ts'
import { getConversation, getTranscript } from '../conversations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { utterancesOf } from '../transcripts/signals/speech.ts'
import { deriveSound } from './derive-measures.ts'
import type { MeasuredFile } from './measure-file.ts'
import type { Sound } from './schema.ts'

/** Returns who speaks when according to the transcript, or null if the transcript doesn't say. */
const readUtterances = async (threads: Deps['threads'], db: Db, org: OrgId, id: string) => {
  const { content, format, startedAt } = await getTranscript(db, org, id)
  if (content === null || format === null) return null
  return utterancesOf(await readTurns(threads, org, content, { provider: format, startedAt }))
}

/** Derives a conversation's sound from the measures of its recording and from its current transcript. */
export const readSound = async (
  { threads }: Pick<Deps, 'threads'>,
  db: Db,
  org: OrgId,
  { id, measured }: { id: string; measured: object },
): Promise<Static<typeof Sound>> => {
  const { agentId, signals } = await getConversation(db, org, id)
  const utterances = await readUtterances(threads, db, org, id)
  const { agentChannel = null } = (await soundSettingsOf(db, org, [agentId])).get(agentId) ?? {}
  // The job stored this value.
  return deriveSound(measured as MeasuredFile, { utterances, responseMs: signals.responseLatencyMs.p50, agentChannel })
}
