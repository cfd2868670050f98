/** Writes the text of a finding about a spike. It contains no text from conversations. */

export type Rise = {
  monitor: string
  version: number
  since: Date
  calls: number
  affected: number
  /** The rate before the spike. */
  baseline: number
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 })
const count = new Intl.NumberFormat('en')
const hour = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})

export const describeRise = ({ monitor, version, since, calls, affected, baseline }: Rise) => {
  const before = percent.format(baseline)
  const now = percent.format(affected / calls)
  return {
    title: `${monitor}: ${now} affected, up from ${before}`,
    paragraphs: [
      `Since ${hour.format(since)} UTC, “${monitor}” (version ${version}) scored ${count.format(calls)} conversations and ` +
        `${count.format(affected)} are affected: ${now}, up from ${before}.`,
      'Earshot compares each hour with the monitor’s recent history. The latest affected conversations are attached, and ' +
        'more are added while the rate stays high.',
    ],
  }
}
