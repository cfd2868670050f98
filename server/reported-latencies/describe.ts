import type { Gap } from './decide.ts'

/** Writes the text of a finding about reported response times. It contains no text from conversations. */

const count = new Intl.NumberFormat('en')

/** Formats long durations in seconds. */
const length = (ms: number): string => {
  const size = Math.abs(ms)
  return size < 1_000 ? `${count.format(Math.round(size))} ms` : `${count.format(Math.round(size / 100) / 10)} s`
}

export const describeGap = ({ agent, days, gap }: { agent: string; days: number; gap: Gap }) => {
  const { calls, medianMs, lowMs, highMs } = gap
  const isLonger = medianMs > 0
  const [least, most] = isLonger ? [lowMs, highMs] : [highMs, lowMs]
  const comparison = isLonger ? 'longer' : 'shorter'
  return {
    title: `${agent}: responses take ${length(medianMs)} ${comparison} than reported`,
    paragraphs: [
      `In ${count.format(calls)} recordings of the last ${days} days, the responses of “${agent}” take ${length(medianMs)} ` +
        `${comparison} than its transcripts report (median; 99.9% interval: ${length(least)} to ${length(most)}).`,
      isLonger
        ? 'Customers wait longer than the reported response times suggest. The newest calls with such a difference are attached, ' +
          'and more are added while it lasts.'
        : 'The reported response times are too high. The newest calls with such a difference are attached, and more are added ' +
          'while it lasts.',
    ],
  }
}
