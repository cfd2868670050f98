// Computes SHA-256 incrementally. The runtime's own function needs all data at once, and browsers only have it over
// HTTPS.

const firstPrimes = (count: number): number[] => {
  const primes: number[] = []
  for (let number = 2; primes.length < count; number++) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number)
  }
  return primes
}

/** Returns the first 32 bits of the fractional part. */
const fractionOf = (root: number): number => ((root - Math.floor(root)) * 2 ** 32) | 0

const rounds = Int32Array.from(firstPrimes(64), (prime) => fractionOf(Math.cbrt(prime)))
const beginning = Int32Array.from(firstPrimes(8), (prime) => fractionOf(Math.sqrt(prime)))

const blockBytes = 64

// The arrays have fixed lengths, so indices are within them.
const at = (words: Int32Array, index: number): number => words[index] as number
const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

const addBlock = (state: Int32Array, words: Int32Array, block: DataView, offset: number): void => {
  for (let i = 0; i < 16; i++) words[i] = block.getInt32(offset + i * 4)
  for (let i = 16; i < 64; i++) {
    const [early, late] = [at(words, i - 15), at(words, i - 2)]
    const small = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
    const large = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)
    words[i] = (at(words, i - 16) + small + at(words, i - 7) + large) | 0
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let i = 0; i < 64; i++) {
    const chosen = (e & f) ^ (~e & g)
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + chosen + at(rounds, i) + at(words, i)) | 0
    const most = (a & b) ^ (a & c) ^ (b & c)
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + most) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (at(state, i) + word) | 0
}

export const openSha256 = () => {
  const state = beginning.slice()
  const words = new Int32Array(64)
  const rest = new Uint8Array(blockBytes)
  const restView = new DataView(rest.buffer)
  let [held, total] = [0, 0]

  const add = (bytes: Uint8Array): void => {
    total += bytes.length
    let from = 0
    if (held > 0) {
      from = Math.min(bytes.length, blockBytes - held)
      rest.set(bytes.subarray(0, from), held)
      held += from
      if (held < blockBytes) return
      addBlock(state, words, restView, 0)
      held = 0
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (; from + blockBytes <= bytes.length; from += blockBytes) addBlock(state, words, view, from)
    rest.set(bytes.subarray(from))
    held = bytes.length - from
  }

  /** Returns the digest in base64. Nothing can be added after that. */
  const digest = (): string => {
    const bits = total * 8
    const zeros = (blockBytes * 2 - 9 - held) % blockBytes
    const tail = new Uint8Array(1 + zeros + 8)
    tail[0] = 0x80
    const view = new DataView(tail.buffer)
    view.setUint32(1 + zeros, Math.floor(bits / 2 ** 32))
    view.setUint32(5 + zeros, bits >>> 0)
    add(tail)
    const out = new DataView(new ArrayBuffer(32))
    state.forEach((word, i) => {
      out.setInt32(i * 4, word)
    })
    return btoa(String.fromCharCode(...new Uint8Array(out.buffer)))
  }
  return { add, digest }
}
