import type { BlobSource } from '../../platform/blobs/store.ts'

/** The number of bytes that are sufficient to identify a file's type. WebM has its type some bytes after the start. */
const headBytes = 64

type AudioType = { contentType: string; extension: string }

const latin1 = (head: Buffer, start: number, end: number) => head.toString('latin1', start, end)

/** Matches the sync word. Excludes bytes that only look like a layer II or III frame. */
const isMp3Frame = (head: Buffer): boolean => {
  const [first = 0, second = 0, third = 0] = head
  const [version, layer, bitrate, rate] = [(second >> 3) & 3, (second >> 1) & 3, third >> 4, (third >> 2) & 3]
  const synced = first === 0xff && second >> 5 === 0b111
  return synced && version !== 1 && (layer === 1 || layer === 2) && bitrate !== 15 && rate !== 3
}

const isAdtsFrame = (head: Buffer): boolean => head[0] === 0xff && ((head[1] ?? 0) & 0xf6) === 0xf0

const audioTypes: [is: (head: Buffer) => boolean, type: AudioType][] = [
  [
    (head) => /^(RIFF|RF64|BW64)$/.test(latin1(head, 0, 4)) && latin1(head, 8, 12) === 'WAVE',
    { contentType: 'audio/wav', extension: 'wav' },
  ],
  [(head) => latin1(head, 0, 3) === 'ID3' || isMp3Frame(head), { contentType: 'audio/mpeg', extension: 'mp3' }],
  [(head) => latin1(head, 0, 4) === 'OggS', { contentType: 'audio/ogg', extension: 'ogg' }],
  [(head) => latin1(head, 0, 4) === 'fLaC', { contentType: 'audio/flac', extension: 'flac' }],
  [(head) => latin1(head, 4, 8) === 'ftyp', { contentType: 'audio/mp4', extension: 'm4a' }],
  [
    (head) => head.readUInt32BE(0) === 0x1a45dfa3 && head.includes('webm'),
    { contentType: 'audio/webm', extension: 'webm' },
  ],
  [isAdtsFrame, { contentType: 'audio/aac', extension: 'aac' }],
]

/** Detects the type of a recording from its first bytes, because names and headers can be wrong. */
export const audioType = (head: Buffer): AudioType | undefined =>
  head.length < 12 ? undefined : audioTypes.find(([is]) => is(head))?.[1]

/** Returns the type of the content. For audio, also returns the complete content, including the first bytes. */
export const recognize = async (source: AsyncIterable<Uint8Array>) => {
  const chunks = source[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  let bytes = 0
  while (bytes < headBytes) {
    const next = await chunks.next()
    if (next.done) break
    read.push(next.value)
    bytes += next.value.byteLength
  }
  const content = async function* (): AsyncGenerator<Uint8Array> {
    yield* read
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  const head = Buffer.concat(read).subarray(0, headBytes)
  return { type: audioType(head), isEmpty: bytes === 0, content: content() satisfies BlobSource }
}

export const extensionOf = (contentType: string): string =>
  audioTypes.find(([, type]) => type.contentType === contentType)?.[1].extension ?? 'bin'
