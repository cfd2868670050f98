/** How many pieces wait side by side. */
const mostPieces = 1_024

/**
 * Bytes that arrive in pieces. A sender may chop a body into single bytes, and as many Buffers would take some hundred
 * times its size, so they are joined before they are many.
 */
export const openGather = () => {
  let joined: Buffer[] = []
  let pieces: Buffer[] = []
  let bytes = 0

  return {
    /** Tells how many bytes there are now. */
    add: (piece: Buffer): number => {
      bytes += piece.length
      if (pieces.push(piece) === mostPieces) {
        joined.push(Buffer.concat(pieces))
        pieces = []
      }
      return bytes
    },
    /** All of it; what comes next begins anew. */
    take: (): Buffer => {
      const whole = Buffer.concat([...joined, ...pieces], bytes)
      joined = []
      pieces = []
      bytes = 0
      return whole
    },
  }
}
