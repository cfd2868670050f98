import { openBase64 } from './base64.ts'

/**
 * Splits JSON, while it arrives, into the Base64 text at `data.full_audio`, which is decoded, and the rest. Invalid
 * JSON can be split anywhere, but the rest is only accepted if it is valid.
 */

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c]
const [openBrace, openBracket, closeBrace, closeBracket] = [0x7b, 0x5b, 0x7d, 0x5d]

const path = ['data', 'full_audio']
/** The maximum length of a name in bytes if every character is escaped. A longer name can't be part of the path. */
const longestName = 100

/** The escapes that can occur in Base64. */
const escapes: Record<string, number> = { '/': 0x2f, n: 0x0a, r: 0x0d, t: 0x09 }
const invalid = 0

type Level = { isObject: boolean; name: string | undefined; atName: boolean }

const readName = (bytes: number[]): string | undefined => {
  try {
    return JSON.parse(`"${Buffer.from(bytes).toString('utf8')}"`)
  } catch {
    return undefined
  }
}

/** Tracks the structure of the text to find the value at the path. */
const openPathTracker = () => {
  /** The levels along the path. `deeper` counts objects and arrays below it. */
  const levels: Level[] = []
  let deeper = 0
  let name: number[] = []

  const level = () => (deeper === 0 ? levels.at(-1) : undefined)

  const enter = (isObject: boolean): void => {
    if (levels.length === path.length) deeper++
    else levels.push({ isObject, name: undefined, atName: isObject })
  }
  const leave = (): void => {
    if (deeper > 0) deeper--
    else levels.pop()
  }

  return {
    pass: (byte: number): void => {
      const here = level()
      if (byte === openBrace || byte === openBracket) enter(byte === openBrace)
      else if (byte === closeBrace || byte === closeBracket) leave()
      else if (here && byte === colon) here.atName = false
      else if (here && byte === comma) here.atName = here.isObject
    },
    /** Returns whether a string that starts here is the value at the path. */
    isAtPath: (): boolean =>
      deeper === 0 &&
      levels.length === path.length &&
      levels.every((each, index) => each.isObject && !each.atName && each.name === path[index]),
    startText: (): void => {
      name = []
    },
    addToText: (byte: number): void => {
      if (level()?.atName && name.length <= longestName) name.push(byte)
    },
    endText: (): void => {
      const here = level()
      if (here?.atName) here.name = name.length > longestName ? undefined : readName(name)
    },
  }
}

export const openSplit = () => {
  const tracker = openPathTracker()
  const base64 = openBase64()
  let within: 'structure' | 'text' | 'audio' = 'structure'
  let hadAudio = false
  /** An incomplete escape, starting with its backslash. */
  let escaped = ''

  /** Returns the byte that an escape stands for, or undefined while the escape is incomplete. */
  const finishEscape = (byte: number): number | undefined => {
    escaped += String.fromCharCode(byte)
    if (escaped[1] !== 'u') return escapes[escaped[1] ?? ''] ?? invalid
    if (escaped.length < 6) return undefined
    const code = Number.parseInt(escaped.slice(2), 16)
    return code > 0 && code < 128 ? code : invalid
  }

  /** Returns the next byte of the audio, or undefined within an escape. */
  const readByte = (written: number): number | undefined => {
    if (escaped === '') {
      if (written !== backslash) return written
      escaped = '\\'
      return undefined
    }
    const byte = finishEscape(written)
    if (byte !== undefined) escaped = ''
    return byte
  }

  const passText = (byte: number): void => {
    if (escaped === '' && byte === quote) {
      tracker.endText()
      within = 'structure'
      return
    }
    tracker.addToText(byte)
    escaped = escaped === '' && byte === backslash ? '\\' : ''
  }

  const passStructure = (byte: number): void => {
    if (byte !== quote) {
      tracker.pass(byte)
      return
    }
    within = !hadAudio && tracker.isAtPath() ? 'audio' : 'text'
    if (within === 'audio') hadAudio = true
    else tracker.startText()
  }

  /** Skips all bytes that are not audio, and returns the position at which the audio starts. */
  const passRest = (piece: Uint8Array, start: number): number => {
    let at = start
    for (; at < piece.length && within !== 'audio'; at++) {
      const byte = piece[at] ?? 0
      if (within === 'text') passText(byte)
      else passStructure(byte)
    }
    return at
  }

  /** Decodes the audio up to its end or the end of the chunk. */
  const decode = (piece: Uint8Array, start: number): { audio: Buffer; end: number } => {
    const audio = Buffer.allocUnsafe(piece.length - start)
    let length = 0
    let at = start
    for (; at < piece.length; at++) {
      const written = piece[at] ?? 0
      if (escaped === '' && written === quote) {
        within = 'structure'
        break
      }
      const byte = readByte(written)
      if (byte !== undefined) length = base64.add(byte, audio, length)
    }
    return { audio: audio.subarray(0, length), end: at }
  }

  return {
    /** Returns the audio in this chunk, and the chunk's other bytes. */
    push: (piece: Buffer): { audio: Buffer; rest: Buffer } => {
      const before = passRest(piece, 0)
      if (within !== 'audio') return { audio: Buffer.alloc(0), rest: piece }
      const { audio, end } = decode(piece, before)
      // Both quotation marks stay in the rest, which therefore contains an empty string.
      if (end === piece.length) return { audio, rest: piece.subarray(0, before) }
      passRest(piece, end + 1)
      return { audio, rest: Buffer.concat([piece.subarray(0, before), piece.subarray(end)]) }
    },
    isSound: base64.isSound,
  }
}
