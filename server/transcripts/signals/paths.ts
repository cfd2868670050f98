/** The signals that can be analyzed over many conversations, each with its path. */
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

// Object.keys loses the literal types.
export const signalNames = Object.keys(signalPaths) as SignalName[]
