import { openNumbers } from '../numbers.ts'
import type { Rated } from '../voice/echo.ts'
import { sampleRate, windowSamples } from '../voice/network.ts'
import type { Segment } from '../voice/segments.ts'
import { type Mark, mostMarks } from './marks.ts'
import { openSpectrum, spectrumBins } from './spectrum.ts'

/** Finds tones: one or two steady frequencies, such as those of a telephone network or a mailbox. */

const windowMs = (windowSamples * 1_000) / sampleRate
const binHz = sampleRate / windowSamples

/** Quieter windows are silent. */
const silent = 10 ** (-50 / 10)
/** Telephones transmit these frequencies. Mains hum is below them. */
const [lowestBin, highestBin] = [6, 121]
/** The energy of a tone is within this many frequencies around its peak. */
const reach = 2
/** A window has a tone if this share of its energy is at one or two frequencies. */
const pure = 0.9

/** `frequency` is the mean of both frequencies, and `second` the share of the weaker one. */
type Tone = { frequency: number; second: number; purity: number; power: number }

/** Consecutive windows with the same tone, and the means of their values. */
type Run = Tone & { firstWindow: number; windows: number }

/** Removes the strongest frequency from a spectrum. Returns its energy, and its energy multiplied by its position. */
const takePeak = (powers: Float64Array): { energy: number; moment: number } => {
  let peak = lowestBin
  for (let bin = lowestBin; bin <= highestBin; bin++) {
    if ((powers[bin] as number) > (powers[peak] as number)) peak = bin
  }
  let [energy, moment] = [0, 0]
  for (let bin = peak - reach; bin <= peak + reach; bin++) {
    energy += powers[bin] as number
    moment += bin * (powers[bin] as number)
    powers[bin] = 0
  }
  return { energy, moment }
}

/**
 * Returns the tone of a spectrum, if it has one, and removes its peaks. Two frequencies that are close enough to beat
 * look like one frequency in some windows and like two in others, but their mean stays the same.
 */
const toneOf = (powers: Float64Array, power: number): Tone | undefined => {
  let total = 0
  for (let bin = reach; bin < spectrumBins; bin++) total += powers[bin] as number
  if (total === 0) return undefined
  const [first, second] = [takePeak(powers), takePeak(powers)]
  const energy = first.energy + second.energy
  const purity = energy / total
  if (purity < pure) return undefined
  const frequency = ((first.moment + second.moment) / energy) * binHz
  return { frequency, second: second.energy / energy, purity, power }
}

/** Returns how much the spectrum resembles noise: 0 for tones, and about 0.5 for noise. */
const flatnessOf = (powers: Float64Array): number => {
  const [from, to] = [8, 108]
  let [logarithms, total] = [0, 0]
  for (let bin = from; bin < to; bin++) {
    const power = (powers[bin] as number) + 1e-12
    logarithms += Math.log(power)
    total += power
  }
  return Math.exp(logarithms / (to - from)) / (total / (to - from))
}

const isNear = (frequency: number, other: number): boolean => Math.abs(frequency - other) <= Math.max(16, 0.03 * other)

const continuesTone = (run: Run, tone: Tone): boolean =>
  isNear(tone.frequency, run.frequency) && tone.power > run.power / 2 && tone.power < run.power * 2

/** A shorter run can be a vowel. */
const shortestRun = 4

type Tones = {
  runs: Run[]
  /** How much each window resembles noise. Silent windows count as noise. */
  flatness: Float32Array
}

const powerOf = (window: Float32Array): number =>
  window.reduce((sum, sample) => sum + sample * sample, 0) / windowSamples

export const openToneMeter = () => {
  const spectrum = openSpectrum()
  const powers: [Float64Array, Float64Array] = [new Float64Array(spectrumBins), new Float64Array(spectrumBins)]
  const flatness = openNumbers()
  const runs: Run[] = []
  let run: Run | undefined
  let windows = 0

  const endRun = (): void => {
    if (run && run.windows >= shortestRun && runs.length < 10 * mostMarks) {
      runs.push({ ...run, purity: run.purity / run.windows, second: run.second / run.windows })
    }
    run = undefined
  }

  const addWindow = (tone: Tone | undefined): void => {
    if (tone && run && continuesTone(run, tone)) {
      run.windows++
      run.purity += tone.purity
      run.second += tone.second
    } else {
      endRun()
      if (tone) run = { ...tone, firstWindow: windows, windows: 1 }
    }
    windows++
  }

  const addPair = (pair: [Float32Array, Float32Array], count: number): void => {
    const loudness = pair.map(powerOf)
    if (loudness.some((power) => power > silent)) spectrum(pair, powers)
    for (let index = 0; index < count; index++) {
      const power = loudness[index] as number
      const isSilent = power <= silent
      flatness.push(isSilent ? 1 : flatnessOf(powers[index] as Float64Array))
      addWindow(isSilent ? undefined : toneOf(powers[index] as Float64Array, power))
    }
  }

  return {
    /** Reads the first windows of a block, which has space for an even number of windows. */
    push: (block: Float32Array, count: number): void => {
      const windowAt = (index: number) => block.subarray(index * windowSamples, (index + 1) * windowSamples)
      for (let index = 0; index < count; index += 2) {
        addPair([windowAt(index), windowAt(index + 1)], Math.min(2, count - index))
      }
    },
    end: (): Tones => {
      endRun()
      return { runs, flatness: flatness.all() }
    },
  }
}

/** On average, a voice resembles noise more than this. */
const mostVoice = 0.5
/** At this frequency or above, no voice is this pure. */
const [neverVoice, neverVoiceHz] = [0.98, 400]

/** A single frequency leaves at most this share of the energy to other frequencies. */
const mostSecond = 0.1
const isSingle = ({ second }: Run): boolean => second <= mostSecond

const isVoice = (run: Run, ratings: Float32Array): boolean => {
  const { firstWindow, windows, purity, frequency } = run
  if (isSingle(run) && purity >= neverVoice && frequency >= neverVoiceHz) return false
  const own = ratings.subarray(firstWindow, firstWindow + windows)
  return own.reduce((sum, rating) => sum + rating, 0) > mostVoice * windows
}

const spanOf = ({ firstWindow, windows }: Run): Segment => ({
  startMs: firstWindow * windowMs,
  endMs: (firstWindow + windows) * windowMs,
})

const lengthOf = ({ startMs, endMs }: Segment): number => endMs - startMs

/** Tones of a telephone network repeat within this time. Mailboxes beep once. */
const repeatedWithinMs = 6_500

const isRepeated = (runs: Run[], index: number): boolean => {
  const own = runs[index] as Run
  return [runs[index - 1], runs[index + 1]].some((other) => {
    if (!other || isSingle(other) !== isSingle(own) || !isNear(other.frequency, own.frequency)) return false
    const [before, after] = other.firstWindow < own.firstWindow ? [other, own] : [own, other]
    return spanOf(after).startMs - spanOf(before).endMs <= repeatedWithinMs
  })
}

/** Telephone networks use no tones below this frequency, but voices do. */
const lowestToneHz = 300

const [longestBeepMs, lowestBeepHz, highestBeepHz] = [1_500, 350, 2_600]
/** Two frequencies must last at least this long, because vowels also have two for a moment. */
const shortestPairMs = 300

/** Returns the kind of a tone, or undefined if a sound only resembles one. */
const kindOf = (run: Run, repeats: boolean): 'tone' | 'beep' | undefined => {
  const lengthMs = lengthOf(spanOf(run))
  if (!isSingle(run)) return lengthMs >= shortestPairMs ? 'tone' : undefined
  if (repeats || lengthMs > longestBeepMs) return 'tone'
  return run.frequency >= lowestBeepHz && run.frequency <= highestBeepHz ? 'beep' : undefined
}

/** A mailbox speaks before it beeps, and listens afterwards. */
const [greetingMs, listeningMs] = [10_000, 1_000]

/** Returns how well a channel's speech before and after a beep matches a mailbox. */
const beepConfidence = ({ startMs, endMs }: Segment, segments: Segment[]): number => {
  const greets = segments.some((segment) => segment.endMs > startMs - greetingMs && segment.startMs < startMs)
  const listens = !segments.some((segment) => segment.startMs < endMs + listeningMs && segment.endMs > endMs + windowMs)
  return 0.4 + (greets ? 0.3 : 0) + (listens ? 0.3 : 0)
}

const overlaps = (span: Segment, others: Segment[]): boolean =>
  others.some(({ startMs, endMs }) => startMs < span.endMs && endMs > span.startMs)

type Channel = { rated: Rated; segments: Segment[]; keys: Segment[] }

/** Returns the tones and beeps on a channel, without key tones. */
export const markTones = (all: Run[], { rated, segments, keys }: Channel): Mark[] => {
  const runs = all
    .filter((run) => run.frequency >= lowestToneHz && !isVoice(run, rated.ratings))
    .filter((run) => !overlaps(spanOf(run), keys))
  return runs.flatMap((run, index): Mark[] => {
    const [span, kind] = [spanOf(run), kindOf(run, isRepeated(runs, index))]
    if (kind === undefined) return []
    return [{ kind, ...span, confidence: kind === 'beep' ? beepConfidence(span, segments) : run.purity }]
  })
}
