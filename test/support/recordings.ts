import { createRequire } from 'node:module'
import { registerFlacEncoder } from '@mediabunny/flac-encoder'
import {
  AudioSample,
  AudioSampleSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  FlacOutputFormat,
  OggOutputFormat,
  Output,
  type OutputFormat,
  WebMOutputFormat,
} from 'mediabunny'
import { createMp3Encoder, createOggEncoder } from 'wasm-media-encoders'
import { openResampler } from '../../server/sound/decoding/resample.ts'

/** Creates recordings with synthesized speech, in the formats that providers send. */

const require = createRequire(import.meta.url)

type Synthesizer = {
  loadConfig: (config: unknown) => void
  loadVoice: (voice: unknown) => void
  speak: (text: string, options: { rawdata: 'buffer'; pitch: number; speed: number }) => Buffer
}

let synthesizer: Synthesizer | undefined

const openSynthesizer = (): Synthesizer => {
  const opened: Synthesizer = require('mespeak')
  opened.loadConfig(require('mespeak/src/mespeak_config.json'))
  opened.loadVoice(require('mespeak/voices/en/en-us.json'))
  return opened
}

/** The rate of synthesized speech. */
export const speechRate = 22_050

const headerBytes = 44
const quiet = 0.01

/** Returns speech without the silence before and after it. */
const say = (text: string, pitch: number): Float32Array => {
  synthesizer ??= openSynthesizer()
  const file = synthesizer.speak(text, { rawdata: 'buffer', pitch, speed: 165 })
  const samples = Float32Array.from(
    { length: (file.length - headerBytes) / 2 },
    (_, at) => file.readInt16LE(headerBytes + 2 * at) / 0x8000,
  )
  const isHeard = (sample: number) => Math.abs(sample) > quiet
  return samples.subarray(samples.findIndex(isHeard), samples.findLastIndex(isHeard) + 1)
}

export type Line = { channel: 0 | 1; text: string; startMs: number }

export type Spoken = { channels: Float32Array[]; lines: (Line & { endMs: number })[]; durationMs: number }

/** Speaks each line on its channel. */
export const speak = (lines: Line[]): Spoken => {
  const said = lines.map((line) => ({ ...line, samples: say(line.text, line.channel === 0 ? 60 : 35) }))
  const startOf = ({ startMs }: Line) => Math.round((startMs / 1_000) * speechRate)
  const length = Math.max(...said.map((line) => startOf(line) + line.samples.length)) + speechRate
  const channels = [new Float32Array(length), new Float32Array(length)]
  for (const line of said) channels[line.channel]?.set(line.samples, startOf(line))
  return {
    channels,
    lines: said.map(({ samples, ...line }) => ({
      ...line,
      endMs: line.startMs + (samples.length / speechRate) * 1_000,
    })),
    durationMs: (length / speechRate) * 1_000,
  }
}

/** Writes one sample between -1 and 1. */
type WriteSample = (file: Buffer, at: number, value: number) => void

type WavFormat = { tag: number; bytes: number; write: WriteSample }

const toUlaw = (value: number): number => {
  const sample = Math.round(value * 32_635)
  const magnitude = Math.abs(sample) + 0x84
  const exponent = Math.max(0, 31 - Math.clz32(magnitude) - 7)
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff
}

export const wavFormats = {
  u8: { tag: 1, bytes: 1, write: (file, at, value) => file.writeUInt8(Math.round(128 + value * 127), at) },
  s16: { tag: 1, bytes: 2, write: (file, at, value) => file.writeInt16LE(Math.round(value * 32_767), at) },
  s24: { tag: 1, bytes: 3, write: (file, at, value) => file.writeIntLE(Math.round(value * 8_388_607), at, 3) },
  f32: { tag: 3, bytes: 4, write: (file, at, value) => file.writeFloatLE(value, at) },
  ulaw: { tag: 7, bytes: 1, write: (file, at, value) => file.writeUInt8(toUlaw(value), at) },
} satisfies Record<string, WavFormat>

export const toWav = (channels: Float32Array[], format: WavFormat = wavFormats.s16, rate = speechRate): Buffer => {
  const [length, frame] = [channels[0]?.length ?? 0, format.bytes * channels.length]
  const file = Buffer.alloc(headerBytes + length * frame)
  file.write('RIFF', 0)
  file.writeUInt32LE(file.length - 8, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(format.tag, 20)
  file.writeUInt16LE(channels.length, 22)
  file.writeUInt32LE(rate, 24)
  file.writeUInt32LE(rate * frame, 28)
  file.writeUInt16LE(frame, 32)
  file.writeUInt16LE(8 * format.bytes, 34)
  file.write('data', 36)
  file.writeUInt32LE(length * frame, 40)
  for (const [channel, samples] of channels.entries()) {
    for (const [at, value] of samples.entries()) {
      format.write(file, headerBytes + at * frame + channel * format.bytes, value)
    }
  }
  return file
}

/** Encodes all samples. The encoder reuses its memory, so each part is copied. */
const encodeAll = (
  encoder: { encode: (samples: Float32Array[]) => Uint8Array; finalize: () => Uint8Array },
  channels: Float32Array[],
): Buffer => {
  const parts: Buffer[] = []
  const length = channels[0]?.length ?? 0
  for (let at = 0; at < length; at += speechRate) {
    parts.push(Buffer.from(encoder.encode(channels.map((samples) => samples.subarray(at, at + speechRate)))))
  }
  return Buffer.concat([...parts, Buffer.from(encoder.finalize())])
}

const countOf = (channels: Float32Array[]): 1 | 2 => (channels.length === 1 ? 1 : 2)

export const toMp3 = async (channels: Float32Array[]): Promise<Buffer> => {
  const encoder = await createMp3Encoder()
  encoder.configure({ sampleRate: speechRate, channels: countOf(channels), bitrate: 64 })
  return encodeAll(encoder, channels)
}

export const toVorbis = async (channels: Float32Array[]): Promise<Buffer> => {
  const encoder = await createOggEncoder()
  encoder.configure({ sampleRate: speechRate, channels: countOf(channels), vbrQuality: 3 })
  return encodeAll(encoder, channels)
}

const inFile = async (format: OutputFormat, write: (output: Output) => Promise<void>): Promise<Buffer> => {
  const target = new BufferTarget()
  const output = new Output({ format, target })
  await write(output)
  await output.finalize()
  return Buffer.from(target.buffer ?? new ArrayBuffer())
}

export const toFlac = (channels: Float32Array[]): Promise<Buffer> => {
  registerFlacEncoder()
  return inFile(new FlacOutputFormat(), async (output) => {
    const source = new AudioSampleSource({ codec: 'flac' })
    output.addAudioTrack(source)
    await output.start()
    const data = Float32Array.from(channels.flatMap((samples) => [...samples]))
    const format = { sampleRate: speechRate, numberOfChannels: channels.length, timestamp: 0 }
    const sample = new AudioSample({ data, format: 'f32-planar', ...format })
    await source.add(sample)
    sample.close()
  })
}

const opusRate = 24_000
/** The samples of 20 ms. */
const opusFrame = 480

const opusHeader = (channels: number): Uint8Array => {
  const header = Buffer.alloc(19)
  header.write('OpusHead')
  header.writeUInt8(1, 8)
  header.writeUInt8(channels, 9)
  header.writeUInt32LE(opusRate, 12)
  return header
}

type OpusEncoder = { encode: (frame: Buffer, samples: number) => Buffer; delete: () => void }

const opusPackets = (channels: Float32Array[]): Buffer[] => {
  const OpusScript: new (rate: number, channels: number, application: number) => OpusEncoder = require('opusscript')
  const encoder = new OpusScript(opusRate, channels.length, 2_048)
  const resampled = channels.map((samples) => openResampler(speechRate, opusRate).push(samples))
  const frames = Math.floor((resampled[0]?.length ?? 0) / opusFrame)
  const packets = Array.from({ length: frames }, (_, index) => {
    const frame = Buffer.alloc(opusFrame * 2 * channels.length)
    for (const [channel, samples] of resampled.entries()) {
      for (let at = 0; at < opusFrame; at++) {
        const value = Math.max(-1, Math.min(1, samples[index * opusFrame + at] as number))
        frame.writeInt16LE(Math.round(value * 32_767), 2 * (at * channels.length + channel))
      }
    }
    return Buffer.from(encoder.encode(frame, opusFrame))
  })
  encoder.delete()
  return packets
}

const opusIn = (format: OutputFormat, channels: Float32Array[]): Promise<Buffer> =>
  inFile(format, async (output) => {
    const source = new EncodedAudioPacketSource('opus')
    output.addAudioTrack(source)
    await output.start()
    const description = opusHeader(channels.length)
    const decoderConfig = { codec: 'opus', sampleRate: 48_000, numberOfChannels: channels.length, description }
    const seconds = opusFrame / opusRate
    for (const [index, data] of opusPackets(channels).entries()) {
      await source.add(new EncodedPacket(data, 'key', index * seconds, seconds), { decoderConfig })
    }
  })

export const toOggOpus = (channels: Float32Array[]): Promise<Buffer> => opusIn(new OggOutputFormat(), channels)
export const toWebM = (channels: Float32Array[]): Promise<Buffer> => opusIn(new WebMOutputFormat(), channels)
