/** Telephones transmit no more than this sample rate can represent. */
export const decodedRate = 8_000
/** The maximum length, in seconds, of a recording that is downloaded completely. */
export const longestDecoded = 30 * 60
const maxBytes = 80_000_000

/** Downloads a recording and decodes it. Returns null if it is too large or the browser can't decode it. */
export const decodeSound = async (src: string, signal: AbortSignal): Promise<AudioBuffer | null> => {
  const response = await fetch(src, { signal })
  if (!response.ok || Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel()
    return null
  }
  try {
    return await new OfflineAudioContext(1, 1, decodedRate).decodeAudioData(await response.arrayBuffer())
  } catch {
    return null
  }
}
