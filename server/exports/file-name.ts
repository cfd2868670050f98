/** What the file of an export is called where it is downloaded. */
export const fileNameOf = (id: string, { since, format }: { since: string; format: string }): string =>
  `earshot-calls-from-${since.slice(0, 10)}-${id.slice(-8)}.${format}`
