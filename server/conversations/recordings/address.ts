import type { Deps } from '../../platform/deps.ts'
import { hourMs } from '../../platform/durations.ts'

type Recording = { status: string; blobKey: string | null }

/**
 * When a link that is given out now expires: within 24 hours. Links given out in the same hour are the same, so that a
 * player that is told one anew plays on.
 */
export const linkExpiry = (now: Date): Date => new Date((Math.floor(now.getTime() / hourMs) + 24) * hourMs)

/**
 * Returns where a player finds the recording; undefined while there is none. Outside PHI mode it is a signed link, in
 * PHI mode an address that needs a key.
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
