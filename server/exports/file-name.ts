type Named = {
  id: string
  kind: 'monitor' | 'conversation' | 'experiment'
  format: string
  /** The start of the period, or for conversations, the day of the export. Their lists can have no period. */
  from: string
}

const prefixes = {
  monitor: 'earshot-calls-from',
  experiment: 'earshot-experiment-from',
  conversation: 'earshot-conversations',
}

/** Returns the name under which an export's file is downloaded. */
export const fileNameOf = ({ id, kind, format, from }: Named): string =>
  `${prefixes[kind]}-${from.slice(0, 10)}-${id.slice(-8)}.${format}`
