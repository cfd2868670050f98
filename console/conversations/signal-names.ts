/** The signals that people can display and sort by, with their labels. */
const labels: Record<string, string> = {
  'responseLatencyMs.p50': 'Median response time',
  'responseLatencyMs.p95': 'Response time, p95',
  'responseLatencyMs.max': 'Slowest response',
  firstWordMs: 'Time to first word',
  longestSilenceMs: 'Longest silence',
  overlapMs: 'Overlap',
  deadAirShare: 'Dead air',
  talkRatio: 'Talk ratio',
  'interruptions.byAgent': 'Interruptions by agent',
  'interruptions.byCustomer': 'Interruptions by customer',
  'turns.agent': 'Agent messages',
  'turns.customer': 'Customer messages',
  'words.agent': 'Agent words',
  'words.customer': 'Customer words',
  'wordsPerMinute.agent': 'Agent words per minute',
  'wordsPerMinute.customer': 'Customer words per minute',
  toolCalls: 'Tool calls',
  toolFailures: 'Failed tool calls',
}

export const signalNames = Object.keys(labels)

export const signalLabel = (name: string): string => labels[name] ?? name
