import { openGroup, talk } from '../template.ts'

const { rule } = openGroup('timing')

const quick = talk(
  'agent 0-2: Acme Dental, how can I help?',
  'customer 2.5-4: An appointment, please.',
  'agent 4.8-6: When would you like to come?',
  'customer 6.5-7.5: Friday.',
  'agent 8.2-10: Friday at ten is free.',
)

const slow = talk(
  'agent 0-2: Acme Dental, how can I help?',
  'customer 2.5-4: An appointment, please.',
  'agent 13-14: When would you like to come?',
  'customer 15-16: Friday.',
  'agent 27-28: Friday at ten is free.',
)

export const timing = [
  rule({
    key: 'slow-responses',
    name: 'Slow responses',
    description: 'The 95th percentile of the response latency exceeds 2.5 seconds. The score is that latency.',
    expression: 'signals.responseLatencyMs.p95 > 2500',
    score: 'signals.responseLatencyMs.p95',
    affected: slow,
    notAffected: quick,
  }),
  rule({
    key: 'very-slow-response',
    name: 'One very slow response',
    description: 'A response takes more than 8 seconds. The score is the slowest one.',
    expression: 'signals.responseLatencyMs.max > 8000',
    score: 'signals.responseLatencyMs.max',
    affected: slow,
    notAffected: quick,
  }),
  rule({
    key: 'slow-greeting',
    name: 'Slow greeting',
    description: 'The agent’s first word comes after more than 3 seconds. The score is that time.',
    expression: 'signals.firstWordMs > 3000',
    score: 'signals.firstWordMs',
    affected: talk('agent 4.5-6: Acme Dental.', 'customer 6.5-7: Hello.'),
    notAffected: quick,
  }),
  rule({
    key: 'dead-air',
    name: 'Dead air',
    description: 'Nobody speaks for more than 30% of the call. The score is the share.',
    expression: 'signals.deadAirShare > 0.3',
    score: 'signals.deadAirShare',
    affected: slow,
    notAffected: quick,
  }),
  rule({
    key: 'long-silence',
    name: 'Long silence',
    description: 'Nobody speaks for more than 10 seconds. The score is the longest silence.',
    expression: 'signals.longestSilenceMs > 10000',
    score: 'signals.longestSilenceMs',
    affected: slow,
    notAffected: quick,
  }),
]
