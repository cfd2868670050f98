/** The signals that can be measured over many conversations, with the path to each. */
export const signalPaths = {
  firstWordMs: ['firstWordMs'],
  'responseLatencyMs.p50': ['responseLatencyMs', 'p50'],
  'responseLatencyMs.p95': ['responseLatencyMs', 'p95'],
  'responseLatencyMs.max': ['responseLatencyMs', 'max'],
  longestSilenceMs: ['longestSilenceMs'],
  deadAirShare: ['deadAirShare'],
  overlapMs: ['overlapMs'],
  talkRatio: ['talkRatio'],
  'interruptions.byAgent': ['interruptions', 'byAgent'],
  'interruptions.byCustomer': ['interruptions', 'byCustomer'],
  toolCalls: ['toolCalls'],
  toolFailures: ['toolFailures'],
} satisfies Record<string, string[]>

export type SignalName = keyof typeof signalPaths

// Object.keys forgets the literal types.
export const signalNames = Object.keys(signalPaths) as SignalName[]
