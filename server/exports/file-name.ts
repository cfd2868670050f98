type Named = {
  id: string
  kind: 'monitor' | 'conversation' | 'experiment'
  format: string
  /**
   * The start of the period. For conversations, the day of the export, because their lists don't always have a period.
   */
  from: string
}

const prefixes = {
  monitor: 'earshot-calls-from',
  experiment: 'earshot-experiment-from',
  conversation: 'earshot-conversations',
}

/** Returns the file name for the download of an export. */
export const fileNameOf = ({ id, kind, format, from }: Named): string =>
  `${prefixes[kind]}-${from.slice(0, 10)}-${id.slice(-8)}.${format}`
