/** The guide's pages in the order in which they are read, each a file of `docs/` without its ending. */
export const contents: { title: string; pages: string[] }[] = [
  { title: 'Begin', pages: ['start', 'concepts'] },
  { title: 'Take conversations in', pages: ['ingest'] },
  { title: 'Know what happens in them', pages: ['monitors', 'rules', 'judges', 'spikes'] },
  { title: 'Let people look', pages: ['findings', 'reviews'] },
  { title: 'Take results out', pages: ['exports', 'webhooks'] },
  { title: 'Compare prompts', pages: ['experiments'] },
  { title: 'Build on it', pages: ['client', 'command-line', 'mcp'] },
  { title: 'Run it', pages: ['operating', 'scaling', 'security', 'configuration'] },
  { title: 'Choose it', pages: ['compare'] },
]

export const pageNames = contents.flatMap(({ pages }) => pages)
