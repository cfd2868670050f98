import { createReadStream, fstatSync, readSync } from 'node:fs'
import { FLACDecoder } from '@wasm-audio-decoders/flac'
import { OggVorbisDecoder } from '@wasm-audio-decoders/ogg-vorbis'
import {
  ALL_FORMATS,
  CustomSource,
  type EncodedPacket,
  EncodedPacketSink,
  Input,
  type InputAudioTrack,
  OGG,
  PCM_AUDIO_CODECS,
} from 'mediabunny'
import { MPEGDecoder } from 'mpg123-decoder'
import { OpusDecoder } from 'opus-decoder'
import { fullScaleOf, type PcmCodec, readPcm } from './pcm.ts'

/** Decodes recordings block by block, so that memory doesn't grow with their length. */

/** Samples between -1 and 1 for each channel. `fullScale` is the largest magnitude that the format can hold. */
export type Block = { channels: Float32Array[]; sampleRate: number; fullScale: number }

/** The recording can't be decoded. The message is shown to people. */
export class Undecodable extends Error {}

type Decoder = {
  decode: (packets: Uint8Array[]) => Promise<Block> | Block
  free: () => void
}

const blockOf = ({ channelData, sampleRate }: { channelData: Float32Array[]; sampleRate: number }): Block => ({
  channels: channelData,
  sampleRate,
  fullScale: 1,
})

const openMp3 = async (): Promise<Decoder> => {
  const decoder = new MPEGDecoder()
  await decoder.ready
  return { decode: (packets) => blockOf(decoder.decodeFrames(packets)), free: () => decoder.free() }
}

const openFlac = async (): Promise<Decoder> => {
  const decoder = new FLACDecoder()
  await decoder.ready
  return { decode: async (packets) => blockOf(await decoder.decodeFrames(packets)), free: () => decoder.free() }
}

/** Returns the encoder delay, which is in the header of the stream. */
const preSkipOf = (header: Uint8Array | undefined): number =>
  header && header.byteLength >= 12 ? new DataView(header.buffer, header.byteOffset).getUint16(10, true) : 0

const openOpus = async (channels: number, header: Uint8Array | undefined): Promise<Decoder> => {
  if (channels > 2) throw new Undecodable('Opus with more than two channels cannot be read.')
  const decoder = new OpusDecoder({ channels, preSkip: preSkipOf(header), forceStereo: channels === 2 })
  await decoder.ready
  return { decode: (packets) => blockOf(decoder.decodeFrames(packets)), free: () => decoder.free() }
}

const isPcm = (codec: string): codec is PcmCodec => (PCM_AUDIO_CODECS as readonly string[]).includes(codec)

const bytesOf = (data: unknown): Uint8Array | undefined => {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return data instanceof ArrayBuffer ? new Uint8Array(data) : undefined
}

const openDecoder = async (track: InputAudioTrack, codec: string): Promise<Decoder> => {
  const channels = await track.getNumberOfChannels()
  const sampleRate = await track.getSampleRate()
  if (isPcm(codec)) {
    const decode = (packets: Uint8Array[]) => ({
      channels: readPcm(codec, Buffer.concat(packets), channels),
      sampleRate,
      fullScale: fullScaleOf(codec),
    })
    return { decode, free: () => {} }
  }
  if (codec === 'mp3') return openMp3()
  if (codec === 'flac') return openFlac()
  if (codec === 'opus') return openOpus(channels, bytesOf((await track.getDecoderConfig())?.description))
  throw new Undecodable(`The recording is encoded as ${codec.toUpperCase()}, which cannot be decoded.`)
}

const packetsPerBlock = 64
/** The maximum size of a packet. Only a file that is designed to use up memory has longer ones. */
const longestPacketBytes = 4 * 1024 * 1024

async function* inGroups(packets: AsyncIterable<EncodedPacket>): AsyncGenerator<Uint8Array[]> {
  let group: Uint8Array[] = []
  for await (const { data } of packets) {
    if (data.byteLength > longestPacketBytes) throw new Undecodable('The recording has a packet that is too long.')
    group.push(data)
    if (group.length < packetsPerBlock) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}

async function* decodeVorbis(fd: number): AsyncGenerator<Block> {
  const decoder = new OggVorbisDecoder()
  await decoder.ready
  try {
    for await (const chunk of createReadStream('', { fd, start: 0, autoClose: false }))
      yield blockOf(await decoder.decode(chunk))
    yield blockOf(await decoder.flush())
  } finally {
    decoder.free()
  }
}

async function* decodeTrack(track: InputAudioTrack, codec: string): AsyncGenerator<Block> {
  const decoder = await openDecoder(track, codec)
  try {
    for await (const packets of inGroups(new EncodedPacketSink(track).packets())) yield await decoder.decode(packets)
  } finally {
    decoder.free()
  }
}

/** Reads an open file. */
const openSource = (fd: number): CustomSource =>
  new CustomSource({
    getSize: () => fstatSync(fd).size,
    read: (start, end) => {
      const bytes = new Uint8Array(end - start)
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, start))
    },
    prefetchProfile: 'fileSystem',
  })

async function* decodeInput(input: Input, fd: number): AsyncGenerator<Block> {
  if (!(await input.canRead())) throw new Undecodable('The file is not audio that can be read.')
  const track = await input.getPrimaryAudioTrack()
  if (!track) throw new Undecodable('The file has no audio.')
  const codec = await track.getCodec()
  const format = await input.getFormat()
  if (codec === null) throw new Undecodable(`The encoding of the audio in this ${format.name} file is not known.`)
  const isOggVorbis = codec === 'vorbis' && format === OGG
  yield* isOggVorbis ? decodeVorbis(fd) : decodeTrack(track, codec)
}

/** Yields the samples of the first audio track of an open file. */
export async function* decodeFile(fd: number): AsyncGenerator<Block> {
  if (fstatSync(fd).size === 0) throw new Undecodable('The file is empty.')
  const input = new Input({ source: openSource(fd), formats: ALL_FORMATS })
  try {
    yield* decodeInput(input, fd)
  } catch (error) {
    // The readers have no common error class for damaged files.
    throw error instanceof Undecodable ? error : new Undecodable('The recording is damaged.', { cause: error })
  } finally {
    input.dispose()
  }
}
