// Estimates the cost of transcribing stored recordings in advance.

import { soundSettingsOf } from '../agents/sound-settings.ts'
import type { Resolved } from '../filters/queries.ts'
import { readModelName } from '../model-providers/model-name.ts'
import { findPrice } from '../model-providers/prices.ts'
import { listSealedProviders, type SealedProvider } from '../model-providers/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { whySoundStays } from '../sound/may-send.ts'
import { countUntranscribed, hasTranscriptionModel } from './queries.ts'

const noModel = 'No model transcribes recordings. Choose one in the settings of the organization or an agent first.'

/** Returns the reason why nothing can be transcribed, or undefined if transcription is possible. */
export const whyNothingIsTranscribed = async (db: Db, org: OrgId): Promise<string | undefined> => {
  if (!(await hasTranscriptionModel(db, org))) return noModel
  return whySoundStays(db, org)
}

/** Returns the price in US dollars for a minute of audio, or undefined if it is unknown. */
const minutePriceOf = async (providers: SealedProvider[], name: string): Promise<number | undefined> => {
  const { providerId, model } = readModelName(name)
  const provider = providers.find(({ id }) => id === providerId)
  if (!provider || model === undefined) return undefined
  return (await findPrice(provider, model)).audioMinute
}

export type TranscriptionEstimate = {
  recordings: number
  minutes: number
  /** Null if a model's price is unknown. */
  cost: number | null
}

/**
 * Estimates the transcription of stored recordings without a transcript. Silence is not sent, and both sides rarely speak at
 * once, so a minute of a call costs about as much as a minute of audio.
 */
export const estimateTranscriptions = async (db: Db, org: OrgId, filter: Resolved): Promise<TranscriptionEstimate> => {
  const counts = await countUntranscribed(db, org, filter)
  const settings = await soundSettingsOf(
    db,
    org,
    counts.map(({ agentId }) => agentId),
  )
  const providers = await listSealedProviders(db, org)
  const timed = counts.reduce((sum, one) => sum + one.timed, 0)
  const seconds = counts.reduce((sum, one) => sum + one.seconds, 0)
  const usualSeconds = timed === 0 ? 0 : seconds / timed
  const estimate: TranscriptionEstimate = { recordings: 0, minutes: 0, cost: 0 }
  for (const { agentId, recordings, timed: known, seconds: knownSeconds } of counts) {
    const model = settings.get(agentId)?.transcriptionModel
    if (!model) continue
    const minutes = (knownSeconds + (recordings - known) * usualSeconds) / 60
    const price = await minutePriceOf(providers, model)
    estimate.recordings += recordings
    estimate.minutes += minutes
    estimate.cost = estimate.cost === null || price === undefined ? null : estimate.cost + minutes * price
  }
  return { ...estimate, minutes: Math.round(estimate.minutes * 10) / 10 }
}
