/** Returns the name under which an export's file is downloaded. */
export const fileNameOf = (
  id: string,
  { since, format }: { since: string; format: string },
  what: 'calls' | 'experiment' = 'calls',
): string => `earshot-${what}-from-${since.slice(0, 10)}-${id.slice(-8)}.${format}`
