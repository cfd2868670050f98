import type { Deps } from '../../deps.ts'

type Recording = { status: string; blobKey: string | null }

/**
 * Where a player finds the recording; undefined while there is none. Outside PHI mode an address that nobody guesses
 * and that works until the recording is erased; in PHI mode one that needs a key.
 */
export const recordingUrlOf = (
  { blobs, baseUrl }: Pick<Deps, 'blobs' | 'baseUrl'>,
  { phiMode }: { phiMode: boolean },
  conversationId: string,
  recording: Recording | undefined,
): string | undefined => {
  if (recording?.status !== 'stored' || recording.blobKey === null) return undefined
  if (phiMode) return `${baseUrl()}/v1/conversations/${conversationId}/recording`
  return blobs.permanentUrl(recording.blobKey, { erasable: true })
}
