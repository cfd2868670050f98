import type { Deps } from '../../platform/deps.ts'
import { hourMs } from '../../platform/durations.ts'

type Recording = { status: string; blobKey: string | null }

/**
 * The expiry of a new link: within 24 hours. Links from the same hour are equal, so that a player that gets a new one
 * continues.
 */
export const linkExpiry = (now: Date): Date => new Date((Math.floor(now.getTime() / hourMs) + 24) * hourMs)

/**
 * Returns the URL of the recording, or undefined if there is none. Outside PHI mode, it is a signed link; in PHI mode,
 * a URL that requires a key.
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
