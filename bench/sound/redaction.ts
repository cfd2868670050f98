// Redacts one utterance of each call, and counts what is left of it: speech, and words that a recognizer finds.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type FileHandle, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openNamelessFile } from '../../server/platform/nameless-file.ts'
import { decodeFile } from '../../server/sound/decoding/decode.ts'
import { openResampler } from '../../server/sound/decoding/resample.ts'
import { measureFile } from '../../server/sound/measure-file.ts'
import { type RedactionOrder, writeRedacted } from '../../server/sound/redaction/write-redacted.ts'
import { toWav, wavFormats } from '../../test/support/recordings.ts'
import type { Call } from './corpus.ts'

const recognizer = '/usr/bin/pocketsphinx_continuous'
const recognizerRate = 16_000

export const hasRecognizer = existsSync(recognizer)

type Span = RedactionOrder['spans'][number]

/** Returns the samples of a span, of all channels together. */
const excerptOf = async ({ fd }: FileHandle, [startMs, endMs]: Span): Promise<Float32Array> => {
  const parts: Float32Array[] = []
  let resampler: ReturnType<typeof openResampler> | undefined
  for await (const { channels, sampleRate } of decodeFile(fd)) {
    resampler ??= openResampler(sampleRate, recognizerRate)
    const mixed = (channels[0] ?? new Float32Array()).map((sample, at) => sample + (channels[1]?.[at] ?? 0))
    parts.push(resampler.push(mixed))
  }
  const samples = Float32Array.from(parts.flatMap((part) => [...part]))
  return samples.slice((startMs * recognizerRate) / 1_000, (endMs * recognizerRate) / 1_000)
}

const wordsIn = async (folder: string, samples: Float32Array): Promise<number> => {
  const path = join(folder, 'excerpt.wav')
  await writeFile(path, toWav([samples], wavFormats.s16, recognizerRate))
  const output = execFileSync(recognizer, ['-infile', path, '-logfn', '/dev/null'], { encoding: 'utf8' })
  return output.split(/\s+/).filter((word) => word !== '').length
}

export type Left = { spans: number; withSpeech: number; wordsBefore: number; wordsAfter: number }

const marginMs = 500
/** Segments can end this much after their last sound. */
const edgeMs = 100

const redactOne = async (content: Buffer, span: Span, folder: string, left: Left): Promise<void> => {
  const [original, redacted] = [await openNamelessFile(), await openNamelessFile()]
  try {
    await original.appendFile(content)
    const order: RedactionOrder = { spans: [span], sound: 'mute' }
    await writeRedacted({ from: original.fd, to: redacted.fd }, order, { onBlock: () => {} })
    const { channels } = await measureFile(redacted.fd, { onBlock: () => {} })
    const [startMs, endMs] = span
    const isWithin = (segment: { startMs: number; endMs: number }) =>
      segment.startMs < endMs - edgeMs && segment.endMs > startMs + edgeMs
    left.spans++
    if (channels.some(({ segments }) => segments.some(isWithin))) left.withSpeech++
    if (!hasRecognizer) return
    left.wordsBefore += await wordsIn(folder, await excerptOf(original, span))
    left.wordsAfter += await wordsIn(folder, await excerptOf(redacted, span))
  } finally {
    await Promise.all([original.close(), redacted.close()])
  }
}

/** Redacts an utterance of each call, with the margins of turns. */
export const redactCalls = async (
  calls: Call[],
  encode: (channels: Call['channels']) => Promise<Buffer> | Buffer,
): Promise<Left> => {
  const left: Left = { spans: 0, withSpeech: 0, wordsBefore: 0, wordsAfter: 0 }
  const folder = await mkdtemp(join(tmpdir(), 'earshot-redaction-'))
  try {
    for (const [index, { channels, utterances }] of calls.entries()) {
      const utterance = utterances[1 + (index % (utterances.length - 2))]
      if (!utterance) continue
      const span: Span = [Math.max(0, Math.floor(utterance.startMs - marginMs)), Math.ceil(utterance.endMs + marginMs)]
      await redactOne(await encode(channels), span, folder, left)
    }
    return left
  } finally {
    await rm(folder, { recursive: true })
  }
}
