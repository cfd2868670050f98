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
    'turns',
    'a list; each has index, role, kind, text, startMs, endMs, interrupted, tool.name, tool.isError, latency.totalMs',
  ],
  ["turns.by('agent')", 'what a role said'],
  ["turns.mentions('refund|money back')", 'whether a pattern occurs; .mentioning(…) gives the turns'],
  ["turns.calls('find_order')", 'the calls of a tool'],
  ['turns.first(3) .last(3)', 'so many of them; .after(…) and .before(…) those around others'],
  ['metadata.plan, metrics.csat', 'what you sent along; has(metadata.plan) asks whether it is there'],
]

const examples: [name: string, expression: string][] = [
  ['Long calls', 'conversation.durationSeconds > 15 * 60'],
  ['The customer asks for a person', "turns.by('customer').mentions('real person|human|supervisor|manager')"],
  [
    'A refund is spoken of before the order was looked up',
    "turns.by('agent').mentions('refund')\n  && turns.before(turns.by('agent').mentioning('refund')).calls('find_order').size() == 0",
  ],
  ['Nobody says that the call is recorded', "!turns.by('agent').first(2).mentions('record(ed|ing)')"],
  ['A tool failed', 'signals.toolFailures > 0'],
  ['Answers are slow', 'signals.responseLatencyMs.p95 > 2500'],
  ['Silence', 'signals.deadAirShare > 0.3 || signals.longestSilenceMs > 10 * 1000'],
  [
    'The agent says the same again',
    "turns.by('agent').exists(a, a.text.size() > 20\n  && turns.by('agent').exists(b, b.index > a.index && b.text == a.text))",
  ],
]

/** What rules can read, and a few to begin with. */
export const RuleReference = ({ onUse }: { onUse: (expression: string) => void }) => (
  <div className={styles.reference}>
    <details>
      <summary>What a rule can read</summary>
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
      <summary>Rules to begin with</summary>
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
