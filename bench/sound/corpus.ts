// Generates calls with exactly known speech, with the voices of espeak-ng and festival (Debian packages).

import { execFileSync } from 'node:child_process'
import { openResampler } from '../../server/sound/decoding/resample.ts'
import { type SeededRandom, seededRandom } from '../../test/malformed.ts'
import { speechRate } from '../../test/support/recordings.ts'

type Voice = { name: string; say: (text: string) => Buffer }

const espeak = (name: string, speed: number, pitch: number): Voice => ({
  name,
  say: (text) =>
    execFileSync('espeak-ng', ['-v', name, '-s', String(speed), '-p', String(pitch), '--stdout', text], {
      maxBuffer: 64 * 1024 * 1024,
    }),
})

const festival = (name: string): Voice => ({
  name,
  say: (text) => execFileSync('text2wave', ['-eval', `(${name})`], { input: text, maxBuffer: 64 * 1024 * 1024 }),
})

const voices: [agent: Voice, customer: Voice][] = [
  [espeak('en-us+f3', 165, 55), espeak('en-gb+m3', 175, 40)],
  [festival('voice_cmu_us_slt_arctic_hts'), espeak('en-us+m1', 150, 35)],
  [espeak('en-gb+f2', 180, 60), festival('voice_kal_diphone')],
  [festival('voice_kal_diphone'), festival('voice_cmu_us_slt_arctic_hts')],
]

const sentences = [
  'Thank you for calling, how can I help you today?',
  'I would like to change my appointment to next Friday.',
  'Sure, can you tell me your date of birth?',
  'The fourth of May, nineteen eighty two.',
  'I have an opening at ten thirty in the morning.',
  'Could you also tell me what I should bring?',
  'Please bring your insurance card and a list of your medicines.',
  'That works for me.',
  'Is there anything else that I can do for you?',
  'No, that was all, thanks a lot for your help.',
]

/** Speech begins and ends with the first and last frame that is at most this much quieter than its loudest one. */
const audibleDb = 35
const frame = Math.round(speechRate / 100)

const powersOf = (samples: Float32Array): number[] =>
  Array.from({ length: Math.floor(samples.length / frame) }, (_, index) =>
    samples.subarray(index * frame, (index + 1) * frame).reduce((sum, sample) => sum + sample * sample, 0),
  )

const readWav = (file: Buffer): { rate: number; samples: Float32Array } => {
  const rate = file.readUInt32LE(24)
  const start = file.indexOf('data') + 8
  const samples = Float32Array.from(
    { length: Math.floor((file.length - start) / 2) },
    (_, at) => file.readInt16LE(start + 2 * at) / 0x8000,
  )
  return { rate, samples }
}

const spoken = new Map<string, Float32Array>()

/** Returns a sentence without the silence around it, at the same loudness for every voice. */
const say = (voice: Voice, text: string): Float32Array => {
  const key = `${voice.name} ${text}`
  const known = spoken.get(key)
  if (known) return known
  const { rate, samples } = readWav(voice.say(text))
  const resampled = openResampler(rate, speechRate).push(samples)
  const loudest = resampled.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
  const powers = powersOf(resampled)
  const audible = Math.max(...powers) / 10 ** (audibleDb / 10)
  const isAudible = (power: number) => power > audible
  const trimmed = resampled
    .subarray(powers.findIndex(isAudible) * frame, (powers.findLastIndex(isAudible) + 1) * frame)
    .map((sample) => (0.5 * sample) / loudest)
  spoken.set(key, trimmed)
  return trimmed
}

export type Utterance = { channel: 0 | 1; startMs: number; endMs: number }
export type Call = { channels: [Float32Array, Float32Array]; utterances: Utterance[] }

/** The time between two lines: a pause, or if negative, the time for which both speak. */
export type PauseMs = (random: SeededRandom) => number

export const pauses: PauseMs = (random) => 150 + random.below(2_350)
export const overlaps: PauseMs = (random) => -(300 + random.below(700))

const linesPerCall = 12

const makeCall = (seed: number, pauseMs: PauseMs): Call => {
  const random = seededRandom(seed)
  const pair = voices[seed % voices.length] as (typeof voices)[number]
  const said: (Utterance & { samples: Float32Array })[] = []
  let at = 500
  for (let line = 0; line < linesPerCall; line++) {
    const channel = (line % 2) as 0 | 1
    const samples = say(pair[channel], random.pick(sentences))
    const startMs = Math.max(at, said.at(-2)?.endMs ?? 0)
    const endMs = startMs + (samples.length * 1_000) / speechRate
    said.push({ channel, startMs, endMs, samples })
    at = endMs + pauseMs(random)
  }
  const length = Math.ceil(((Math.max(...said.map(({ endMs }) => endMs)) + 1_000) * speechRate) / 1_000)
  const channels: Call['channels'] = [new Float32Array(length), new Float32Array(length)]
  for (const { channel, startMs, samples } of said) {
    channels[channel].set(samples, Math.round((startMs * speechRate) / 1_000))
  }
  return { channels, utterances: said.map(({ samples: _samples, ...utterance }) => utterance) }
}

export const makeCalls = (count: number, pauseMs: PauseMs): Call[] =>
  Array.from({ length: count }, (_, seed) => makeCall(seed + 1, pauseMs))
