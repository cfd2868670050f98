import type { PCM_AUDIO_CODECS } from 'mediabunny'

/** Reads uncompressed samples. */

export type PcmCodec = (typeof PCM_AUDIO_CODECS)[number]

type ReadSample = (view: DataView, at: number) => number

/** Expands a byte of μ-law (ITU-T G.711). */
const fromUlaw = (byte: number): number => {
  const bits = ~byte & 0xff
  const magnitude = (((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4)
  return (bits & 0x80 ? 0x84 - magnitude : magnitude - 0x84) / 0x8000
}

/** Expands a byte of A-law (ITU-T G.711). */
const fromAlaw = (byte: number): number => {
  const bits = byte ^ 0x55
  const segment = (bits & 0x70) >> 4
  const base = ((bits & 0x0f) << 4) + 8
  const magnitude = segment === 0 ? base : (base + 0x100) << (segment - 1)
  return (bits & 0x80 ? magnitude : -magnitude) / 0x8000
}

const tabled = (expand: (byte: number) => number): ReadSample => {
  const table = Float32Array.from({ length: 256 }, (_, byte) => expand(byte))
  return (view, at) => table[view.getUint8(at)] as number
}

const int24 = (view: DataView, at: number, isLittle: boolean): number =>
  isLittle
    ? (view.getInt8(at + 2) << 16) | view.getUint16(at, true)
    : (view.getInt8(at) << 16) | view.getUint16(at + 1, false)

const layouts: Record<PcmCodec, [bytes: number, read: ReadSample]> = {
  'pcm-u8': [1, (view, at) => (view.getUint8(at) - 128) / 128],
  'pcm-s8': [1, (view, at) => view.getInt8(at) / 128],
  'pcm-s16': [2, (view, at) => view.getInt16(at, true) / 0x8000],
  'pcm-s16be': [2, (view, at) => view.getInt16(at, false) / 0x8000],
  'pcm-s24': [3, (view, at) => int24(view, at, true) / 0x80_0000],
  'pcm-s24be': [3, (view, at) => int24(view, at, false) / 0x80_0000],
  'pcm-s32': [4, (view, at) => view.getInt32(at, true) / 0x8000_0000],
  'pcm-s32be': [4, (view, at) => view.getInt32(at, false) / 0x8000_0000],
  'pcm-f32': [4, (view, at) => view.getFloat32(at, true)],
  'pcm-f32be': [4, (view, at) => view.getFloat32(at, false)],
  'pcm-f64': [8, (view, at) => view.getFloat64(at, true)],
  'pcm-f64be': [8, (view, at) => view.getFloat64(at, false)],
  ulaw: [1, tabled(fromUlaw)],
  alaw: [1, tabled(fromAlaw)],
}

/** The largest magnitude in each format that can't hold 1. */
const largest: Partial<Record<PcmCodec, number>> = { ulaw: fromUlaw(0x80), alaw: fromAlaw(0xaa) }

export const fullScaleOf = (codec: PcmCodec): number => largest[codec] ?? 1

/** Returns the samples of each channel. Omits an incomplete last sample. */
export const readPcm = (codec: PcmCodec, data: Uint8Array, channels: number): Float32Array[] => {
  const [bytes, read] = layouts[codec]
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const frame = bytes * channels
  const length = Math.floor(data.byteLength / frame)
  return Array.from({ length: channels }, (_, channel) => {
    const samples = new Float32Array(length)
    for (let index = 0; index < length; index++) {
      const value = read(view, index * frame + channel * bytes)
      samples[index] = Number.isFinite(value) ? Math.max(-1, Math.min(1, value)) : 0
    }
    return samples
  })
}
