import { longestComment, longestValue, maxKeys } from '../conversations/metrics/metric.ts'
import type { Metric } from '../transcripts/provider-calls/call.ts'

/**
 * Limits the length of text from providers. Longer text is truncated, not rejected as in a request, because the
 * provider can't correct it.
 */

export const longestText = 255

/** Truncates a string. If the end is within a character, that character is replaced. */
export const cut = (text: string, length = longestText): string =>
  text.length <= length ? text : text.slice(0, length).toWellFormed()

const cutMetric = ({ key, value, comment }: Metric): Metric => ({
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this matches characters that a key must not contain.
  key: key.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' '),
  value: typeof value === 'string' ? cut(value, longestValue) : value,
  ...(comment !== undefined && { comment: cut(comment, longestComment) }),
})

export const cutMetrics = (metrics: Metric[]): Metric[] => metrics.slice(0, maxKeys).map(cutMetric)
