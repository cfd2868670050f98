/** A finding's words for a rise, which say nothing of what was said in a conversation. */

export type Rise = {
  monitor: string
  version: number
  since: Date
  calls: number
  affected: number
  /** The rate of before. */
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
      `Of the ${count.format(calls)} conversations since ${hour.format(since)} UTC that “${monitor}” (version ${version}) ` +
        `scored, ${count.format(affected)} are affected: ${now}. Before, it was ${before}.`,
      'The rate is compared with the monitor’s own recent history, hour by hour. The newest affected conversations since ' +
        'the rise are attached, and more while it goes on.',
    ],
  }
}
