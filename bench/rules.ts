/** Twenty rules of all kinds for the demo's conversations. */
export const rules: Record<string, string[]> = {
  'text patterns': [
    "turns.mentions('refund|money back')",
    "turns.by('customer').mentions('real person|human|speak to (a|the) (person|manager)')",
    "turns.by('agent').mentions('sorry|apologi[sz]e')",
    "turns.by('customer').mentions('third time|not listening|not what I asked')",
    "turns.mentions('order [0-9]+')",
  ],
  signals: [
    'signals.interruptions.byAgent > 1',
    'signals.responseLatencyMs.p95 > 2500',
    'signals.talkRatio > 0.7 || signals.talkRatio < 0.3',
    'signals.longestSilenceMs > 4000 && signals.toolCalls > 0',
    'signals.toolFailures > 0',
  ],
  metadata: [
    "metadata.plan == 'gold'",
    "metadata.topic == 'refund' && metadata.attempt > 1",
    "metadata.region in ['north', 'south']",
    'has(metadata.returning) && metadata.returning',
    "conversation.channel == 'call' && conversation.durationSeconds > 90",
  ],
  'turn sequences': [
    "turns.exists(t, t.role == 'customer' && t.interrupted)",
    "turns.filter(t, t.role == 'agent').size() > 8",
    "turns.exists(t, t.kind == 'tool_call' && turns.exists(u, u.kind == 'tool_result' && u.index == t.index + 1))",
    "turns.size() > 0 && turns[turns.size() - 1].role == 'customer'",
    "turns.exists(t, t.index > 0 && t.role == turns[t.index - 1].role && t.kind == 'message')",
  ],
}
