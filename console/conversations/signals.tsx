import type { ComponentProps } from 'react'
import type { Schemas } from '../api/schema.d.ts'
import { formatCount, formatMs, formatNumber, formatPercent } from '../lib/format.ts'
import { Facts, Section } from '../ui/page.tsx'
import styles from './aside.module.css'
import { BothSides, show } from './both-sides.tsx'

type Signals = Schemas['Signals']

/** Shows the conversation's signals: those of both sides next to each other, then those of the whole conversation. */
export const SignalsPart = ({ signals }: { signals: Signals }) => {
  const { turns, words, wordsPerMinute, interruptions, responseLatencyMs, talkRatio } = signals
  const talk = { agent: talkRatio, customer: talkRatio === null ? null : 1 - talkRatio }
  const pairs: ComponentProps<typeof BothSides>['rows'] = [
    ['Messages', turns, formatCount],
    ['Words', words, formatCount],
    ['Talk ratio', talk, formatPercent],
    ['Words per minute', wordsPerMinute, formatNumber],
    ['Interruptions', { agent: interruptions.byAgent, customer: interruptions.byCustomer }, formatCount],
  ]
  if (turns.agent === null && turns.customer === null) return null
  const { p50, p95, max } = responseLatencyMs
  return (
    <Section title="Signals">
      <BothSides heading="Signal" rows={pairs} />
      <div className={styles.gap}>
        <Facts
          facts={[
            ['Response time', p50 === null ? null : `${formatMs(p50)} median`],
            [
              'Slowest response',
              max === null ? null : `${formatMs(max)}${p95 === null ? '' : ` · p95 ${formatMs(p95)}`}`,
            ],
            ['Time to first word', show(signals.firstWordMs, formatMs)],
            ['Overlap', show(signals.overlapMs, formatMs)],
            ['Longest silence', show(signals.longestSilenceMs, formatMs)],
            ['Dead air', show(signals.deadAirShare, formatPercent)],
            [
              'Tool calls',
              show(signals.toolCalls, (calls) =>
                signals.toolFailures ? `${calls}, ${signals.toolFailures} failed` : `${calls}`,
              ),
            ],
          ]}
        />
      </div>
    </Section>
  )
}
