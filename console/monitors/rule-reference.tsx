import { Button } from '../ui/button.tsx'
import styles from './editor.module.css'

const readable: [code: string, words: string][] = [
  ['conversation', 'channel, direction, durationSeconds, startedAt, endedAt, endReason, customerId, agentId'],
  ['signals', 'responseLatencyMs.p50 .p95 .max, firstWordMs, overlapMs, longestSilenceMs, deadAirShare, talkRatio'],
  [
    'signals',
    'interruptions.byAgent .byCustomer, toolCalls, toolFailures, turns.agent .customer, wordsPerMinute.agent',
  ],
  [
    'sound',
    'measures of the recording: responseMs.agent.p50 .p95 .max, stopMs.agent.p50, interruptions.agent, talkOverMs, dropouts',
  ],
  [
    'turns',
    'a list of turns with index, role, kind, text, startMs, endMs, interrupted, tool.name, tool.isError, latency.totalMs',
  ],
  ["turns.by('agent')", 'turns from one role'],
  ["turns.mentions('refund|money back')", 'true if a pattern occurs. .mentioning(…) returns the turns'],
  ["turns.calls('find_order')", 'calls to a tool'],
  ['turns.first(3) .last(3)', 'the first or last turns. .after(…) and .before(…) return turns around others'],
  ['metadata.plan, metrics.csat', 'your own data. has(metadata.plan) is true if it exists'],
]

const examples: [name: string, expression: string][] = [
  ['Long calls', 'conversation.durationSeconds > 15 * 60'],
  ['Customer asks for a person', "turns.by('customer').mentions('real person|human|supervisor|manager')"],
  [
    'Refund mentioned before looking up the order',
    "turns.by('agent').mentions('refund')\n  && turns.before(turns.by('agent').mentioning('refund')).calls('find_order').size() == 0",
  ],
  ['Agent doesn’t say the call is recorded', "!turns.by('agent').first(2).mentions('record(ed|ing)')"],
  ['Tool failed', 'signals.toolFailures > 0'],
  ['Slow responses', 'signals.responseLatencyMs.p95 > 2500'],
  ['Slow responses in the recording', 'sound.responseMs.agent.p95 > 2500'],
  ['Long silence', 'signals.deadAirShare > 0.3 || signals.longestSilenceMs > 10 * 1000'],
  [
    'Agent repeats itself',
    "turns.by('agent').exists(a, a.text.size() > 20\n  && turns.by('agent').exists(b, b.index > a.index && b.text == a.text))",
  ],
]

/** Shows the fields and functions of rules, with examples. */
export const RuleReference = ({ onUse }: { onUse: (expression: string) => void }) => (
  <div className={styles.reference}>
    <details>
      <summary>Available fields and functions</summary>
      <dl>
        {readable.map(([code, words]) => (
          <div key={code + words}>
            <dt>
              <code>{code}</code>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </details>
    <details>
      <summary>Example rules</summary>
      <ul>
        {examples.map(([name, expression]) => (
          <li key={name}>
            <div>
              {name}
              <code>{expression}</code>
            </div>
            <Button small onClick={() => onUse(expression)} aria-label={`Use “${name}”`}>
              Use
            </Button>
          </li>
        ))}
      </ul>
    </details>
  </div>
)
