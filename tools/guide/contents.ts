/** The guide's pages in reading order. Each is the name of a file in `docs/` without its extension. */
export const contents: { title: string; pages: string[] }[] = [
  { title: 'Get started', pages: ['start', 'concepts'] },
  { title: 'Ingest', pages: ['ingest', 'meaning', 'topics'] },
  {
    title: 'Monitor',
    pages: ['monitors', 'rules', 'judges', 'scorecards', 'models', 'spikes', 'sound', 'transcription', 'analytics'],
  },
  { title: 'Alert', pages: ['alerts', 'destinations', 'health', 'notifications'] },
  { title: 'Review', pages: ['findings', 'reviews', 'alignment'] },
  { title: 'Export', pages: ['exports', 'webhooks'] },
  { title: 'Experiment', pages: ['experiments'] },
  { title: 'Build', pages: ['client', 'live', 'command-line', 'mcp'] },
  { title: 'Operate', pages: ['operating', 'scaling', 'security', 'configuration'] },
  { title: 'Compare', pages: ['compare'] },
]

export const pageNames = contents.flatMap(({ pages }) => pages)
