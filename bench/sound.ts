// Measures the accuracy of measured response times in calls with known speech, compared with a simple method that only
// compares levels, and the time and memory that this takes. Needs espeak-ng and festival.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openNamelessFile } from '../server/platform/nameless-file.ts'
import { decodeFile } from '../server/sound/decoding/decode.ts'
import { openResampler } from '../server/sound/decoding/resample.ts'
import { measureFile } from '../server/sound/measure-file.ts'
import { frameMs, openFrameMeter } from '../server/sound/measures/levels.ts'
import { type Mark, type MarkKind, markKinds } from '../server/sound/measures/marks.ts'
import { findTurnTaking, type TurnTaking } from '../server/sound/measures/turn-taking.ts'
import { processOptions } from '../server/sound/run-process.ts'
import { findSegments, type Segment } from '../server/sound/voice/segments.ts'
import { toMp3 } from '../test/support/recordings.ts'
import { judge, print } from './report.ts'
import { codings, damages } from './sound/conditions.ts'
import { type Call, makeCalls, overlaps, pauses } from './sound/corpus.ts'
import { hasRecognizer, type Left, redactCalls } from './sound/redaction.ts'
import { type Detection, detect, plant } from './sound/signals.ts'

for (const program of ['/usr/bin/espeak-ng', '/usr/bin/text2wave']) {
  if (existsSync(program)) continue
  print('This bench needs speech: apt-get install espeak-ng festival festvox-kallpc16k festvox-us-slt-hts')
  process.exit(2)
}

const callCount = 16

type Pair = [Segment[], Segment[]]

/**
 * Finds speech with a simple method: a frame has speech if it is 10 dB louder than the quietest tenth of the channel.
 */
const byLevel = (levels: Float32Array): Segment[] => {
  const floor = levels.toSorted()[Math.floor(levels.length / 10)] ?? 0
  const threshold = Math.max(-60, floor + 10)
  return findSegments(
    levels.map((level) => (level > threshold ? 1 : 0)),
    frameMs,
    { ms: frameMs, levels },
  )
}

const withFile = async <T>(content: Buffer, use: (fd: number) => Promise<T>): Promise<T> => {
  const file = await openNamelessFile()
  try {
    await file.appendFile(content)
    return await use(file.fd)
  } finally {
    await file.close()
  }
}

const levelSegments = (content: Buffer): Promise<Pair> =>
  withFile(content, async (fd) => {
    const meters = [openFrameMeter(8_000), openFrameMeter(8_000)]
    let resamplers: ReturnType<typeof openResampler>[] = []
    for await (const { channels, sampleRate } of decodeFile(fd)) {
      if (resamplers.length === 0) resamplers = channels.map(() => openResampler(sampleRate, 8_000))
      channels.forEach((samples, channel) => {
        const resampled = resamplers[channel]?.push(samples)
        if (resampled) meters[channel]?.push(resampled)
      })
    }
    const [first, second] = meters.map((meter) => byLevel(meter.levels()))
    return [first ?? [], second ?? []]
  })

const marksOf = (content: Buffer): Promise<Mark[][]> =>
  withFile(content, async (fd) => {
    const { channels } = await measureFile(fd, { onBlock: () => {} })
    return channels.map(({ marks }) => marks)
  })

const measuredSegments = (content: Buffer): Promise<Pair> =>
  withFile(content, async (fd) => {
    const { channels } = await measureFile(fd, { onBlock: () => {} })
    const [first, second] = channels.map(({ segments }) => segments)
    return [first ?? [], second ?? []]
  })

type ChannelSegment = Segment & { channel: 0 | 1 }

/** Returns the true gaps or overlaps between lines, in order. */
const truthOf = ({ utterances }: Call, isWanted: (pauseMs: number) => boolean): ChannelSegment[] =>
  utterances.slice(1).flatMap(({ channel, startMs }, index) => {
    const { endMs } = utterances[index] as (typeof utterances)[number]
    if (!isWanted(startMs - endMs)) return []
    return [{ channel, startMs: Math.min(startMs, endMs), endMs: Math.max(startMs, endMs) }]
  })

/** The maximum distance between the middles of a measured gap and the true one. */
const nearMs = 400

type Score = { errors: number[]; missed: number; invented: number }

const compare = (truth: ChannelSegment[], found: ChannelSegment[], score: Score): void => {
  const middle = ({ startMs, endMs }: Segment) => (startMs + endMs) / 2
  const left = new Set(found)
  for (const each of truth) {
    const near = [...left].find((one) => one.channel === each.channel && Math.abs(middle(one) - middle(each)) < nearMs)
    if (!near) {
      score.missed++
      continue
    }
    left.delete(near)
    score.errors.push(Math.abs(near.endMs - near.startMs - (each.endMs - each.startMs)))
  }
  score.invented += left.size
}

const at = (errors: number[], share: number): number => {
  const sorted = errors.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

type Compared = {
  calls: Call[]
  isWanted: (pauseMs: number) => boolean
  select: (taking: TurnTaking) => ChannelSegment[]
}

const scoreOf = async (
  { calls, isWanted, select }: Compared,
  encode: (channels: Call['channels']) => Promise<Buffer> | Buffer,
  segmentsOf: (content: Buffer) => Promise<Pair>,
): Promise<Score> => {
  const score: Score = { errors: [], missed: 0, invented: 0 }
  for (const call of calls) {
    const segments = await segmentsOf(await encode(call.channels))
    compare(truthOf(call, isWanted), select(findTurnTaking(segments)), score)
  }
  return score
}

const words = ({ errors, missed, invented }: Score): string =>
  `${at(errors, 0.5).toFixed(0)} | ${at(errors, 0.95).toFixed(0)} | ${missed} | ${invented}`

const gaps: Compared = {
  calls: makeCalls(callCount, pauses),
  isWanted: (pauseMs) => pauseMs > 0,
  select: ({ gaps: found }) => found,
}
const doubleTalk: Compared = {
  calls: makeCalls(callCount, overlaps),
  isWanted: (pauseMs) => pauseMs <= -100,
  select: ({ talkOver }) => talkOver,
}

const count = gaps.calls.reduce((total, call) => total + truthOf(call, gaps.isWanted).length, 0)
print(`Errors of ${count} response times in ${callCount} calls, in ms:`)
print('| condition | p50 | p95 | missed | invented | by level: p50 | p95 | missed | invented |')
print('|---|---|---|---|---|---|---|---|---|')
const coded: number[] = []
for (const { name, encode } of [...codings, ...damages]) {
  const measured = await scoreOf(gaps, encode, measuredSegments)
  const simple = await scoreOf(gaps, encode, levelSegments)
  if (codings.some((coding) => coding.name === name)) coded.push(...measured.errors)
  print(`| ${name} | ${words(measured)} | ${words(simple)} |`)
}
for (const { name, encode } of codings) {
  const measured = await scoreOf(doubleTalk, encode, measuredSegments)
  print(`| double talk, ${name} | ${words(measured)} | ${words(await scoreOf(doubleTalk, encode, levelSegments))} |`)
}
judge('error of response times in clean and coded sound, p50', at(coded, 0.5), { atMost: 40 }, ' ms')
judge('error of response times in clean and coded sound, p95', at(coded, 0.95), { atMost: 120 }, ' ms')

const marked = gaps.calls.map((call, seed) => plant(call, seed))
const kinds = markKinds.filter((kind) => kind !== 'packet_gap')
const minutesOf = marked.reduce((total, { minutes }) => total + minutes, 0)
print(`Faults and signals in ${callCount} calls of ${minutesOf.toFixed(0)} minutes, with two channels each:`)
print('| condition | kind | planted | found | wrong digits | invented |')
print('|---|---|---|---|---|---|')
const total: Detection = { planted: 0, found: 0, wrongDigits: 0, invented: 0 }
const heardIn = [...codings, ...damages.slice(0, 1)]
for (const { name, encode } of heardIn) {
  const detections = new Map(
    kinds.map((kind): [MarkKind, Detection] => [kind, { planted: 0, found: 0, wrongDigits: 0, invented: 0 }]),
  )
  let packetGaps = 0
  for (const { channels, planted } of marked) {
    const found = await marksOf(await encode(channels))
    for (const [kind, detection] of detections) detect(kind, planted, found, detection)
    packetGaps += found.flat().filter(({ kind }) => kind === 'packet_gap').length
  }
  for (const [kind, { planted, found, wrongDigits, invented }] of detections) {
    print(`| ${name} | ${kind} | ${planted} | ${found} | ${kind === 'dtmf' ? wrongDigits : ''} | ${invented} |`)
    // Codecs change the samples of clipping and dropouts, so that nothing can find them exactly.
    const isExact = kind !== 'clipping' && kind !== 'dropout'
    if (!isExact && name !== 'clean') continue
    total.planted += planted
    total.found += found
    total.wrongDigits += wrongDigits
    total.invented += invented
  }
  print(`| ${name} | packet_gap | 0 | 0 | | ${packetGaps} |`)
}
const hours = (2 * heardIn.length * minutesOf) / 60
judge('share of planted faults and signals that are found', total.found / total.planted, { atLeast: 0.95 }, '')
judge('share of keys with wrong digits', total.wrongDigits / total.planted, { atMost: 0.01 }, '')
judge('wrong marks per hour of a channel', total.invented / hours, { atMost: 2 }, '')

print(`What is left of redacted utterances, one in each of ${callCount} calls:`)
print('| condition | spans | with speech | words recognized before | after |')
print('|---|---|---|---|---|')
if (!hasRecognizer) print('Words need a recognizer: apt-get install pocketsphinx pocketsphinx-en-us')
const left: Left = { spans: 0, withSpeech: 0, wordsBefore: 0, wordsAfter: 0 }
for (const { name, encode } of codings) {
  const found = await redactCalls(gaps.calls, encode)
  print(`| ${name} | ${found.spans} | ${found.withSpeech} | ${found.wordsBefore} | ${found.wordsAfter} |`)
  for (const key of Object.keys(left) as (keyof Left)[]) left[key] += found[key]
}
judge('redacted spans with speech', left.withSpeech, { atMost: 0 }, '')
if (hasRecognizer) judge('words recognized in redacted spans', left.wordsAfter, { atMost: 0 }, '')

const folder = await mkdtemp(join(tmpdir(), 'earshot-sound-'))
try {
  const parts = await Promise.all(gaps.calls.slice(0, 8).map(({ channels }) => toMp3(channels)))
  const minutes = parts.length
  const process_ = join(import.meta.dirname, 'sound/measure-process.ts')
  for (const [name, repeats] of [
    ['ten minutes', 2],
    ['three hours', 30],
  ] as const) {
    const path = join(folder, 'call.mp3')
    await writeFile(path, Buffer.concat(Array.from({ length: repeats }, () => parts).flat()))
    const output = execFileSync(process.execPath, [...processOptions, process_, path], {
      encoding: 'utf8',
    })
    const { durationMs, cpuMs, megabytes } = JSON.parse(output)
    print(`Stereo MP3 of about ${name} (${(durationMs / 60_000).toFixed(0)} minutes, from ${minutes} calls):`)
    judge('times faster than real time, per core, decoding and start included', durationMs / cpuMs, { atLeast: 100 })
    judge('memory', megabytes, { atMost: 300 }, ' MB')
  }
} finally {
  await rm(folder, { recursive: true })
}
