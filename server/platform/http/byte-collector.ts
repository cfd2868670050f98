/** How many chunks are kept separately. */
const mostPieces = 1_024

/**
 * Collects bytes in chunks. A sender can split a body into single bytes, and as many Buffers would take hundreds of
 * times its size, so they are merged before there are many.
 */
export const openGather = () => {
  let joined: Buffer[] = []
  let pieces: Buffer[] = []
  let bytes = 0

  return {
    /** Returns the current number of bytes. */
    add: (piece: Buffer): number => {
      bytes += piece.length
      if (pieces.push(piece) === mostPieces) {
        joined.push(Buffer.concat(pieces))
        pieces = []
      }
      return bytes
    },
    /** Returns all bytes and starts again. */
    take: (): Buffer => {
      const whole = Buffer.concat([...joined, ...pieces], bytes)
      joined = []
      pieces = []
      bytes = 0
      return whole
    },
  }
}
