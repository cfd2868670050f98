const longestMs = 3_600_000

/**
 * Returns the requested delay, which is at most an hour. The header is a number of seconds or a date. Other values are
 * ignored.
 */
export const readRetryAfter = (header: string | string[] | undefined, now: Date): number => {
  const text = [header].flat()[0]?.trim() ?? ''
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime()
  return Number.isNaN(ms) ? 0 : Math.min(longestMs, Math.max(0, ms))
}
