import type { Deps } from '../../platform/deps.ts'
import { hourMs } from '../../platform/durations.ts'

type Recording = { status: string; blobKey: string | null }

/**
 * Returns the expiry of a new link, 23 to 24 hours from now. Links created in the same hour are equal, so that a player
 * that receives a new link continues to play.
 */
export const linkExpiry = (now: Date): Date => new Date((Math.floor(now.getTime() / hourMs) + 24) * hourMs)

/**
 * Returns the recording's URL, or undefined if there is none. It is a signed link, except in PHI mode, where the URL
 * requires a key.
 */
export const recordingUrlOf = (
  { blobs, baseUrl, clock }: Pick<Deps, 'blobs' | 'baseUrl' | 'clock'>,
  { phiMode }: { phiMode: boolean },
  conversationId: string,
  recording: Recording | undefined,
): string | undefined => {
  if (recording?.status !== 'stored' || recording.blobKey === null) return undefined
  if (phiMode) return `${baseUrl()}/v1/conversations/${conversationId}/recording`
  return blobs.passingUrl(recording.blobKey, linkExpiry(clock.now()))
}
