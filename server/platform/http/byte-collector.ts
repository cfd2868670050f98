/** If there are more chunks than this, they are merged. */
const mostPieces = 1_024

/**
 * Collects bytes in chunks. A sender can split a body into single bytes, and a Buffer for each would take hundreds of
 * times the body's size. So chunks are merged from time to time.
 */
export const openByteCollector = () => {
  let joined: Buffer[] = []
  let pieces: Buffer[] = []
  let bytes = 0

  return {
    /** Adds a chunk, and returns the total number of bytes so far. */
    add: (piece: Buffer): number => {
      bytes += piece.length
      if (pieces.push(piece) === mostPieces) {
        joined.push(Buffer.concat(pieces))
        pieces = []
      }
      return bytes
    },
    /** Returns all bytes and starts from the beginning. */
    take: (): Buffer => {
      const whole = Buffer.concat([...joined, ...pieces], bytes)
      joined = []
      pieces = []
      bytes = 0
      return whole
    },
  }
}
