import { countMonitors, insertMonitor, insertMonitorVersion } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'

/** What the demo's conversations are asked: rules alone, since a judge would need a model. */
const monitors: { name: string; description: string; expression: string; score?: string }[] = [
  {
    name: 'Asks for a person',
    description: 'The customer wants to talk to a human.',
    expression: "turns.by('customer').mentions('real person|human|speak to a person')",
  },
  {
    name: 'Feels unheard',
    description: 'The customer says that the agent does not listen.',
    expression: "turns.by('customer').mentions('third time|not listening|not what I asked')",
  },
  {
    name: 'Slow to answer',
    description: 'One answer in twenty takes longer than two and a half seconds. The score is that time.',
    expression: 'signals.responseLatencyMs.p95 > 2500',
    score: 'signals.responseLatencyMs.p95',
  },
  {
    name: 'Interrupts the customer',
    description: 'The agent cuts the customer short more than once. The score says how often.',
    expression: 'signals.interruptions.byAgent > 1',
    score: 'signals.interruptions.byAgent',
  },
  {
    name: 'Refund without a look at the order',
    description: 'A refund is made, and nobody has looked the order up before.',
    expression: "turns.calls('refund_order').size() > 0 && turns.calls('find_order').size() == 0",
  },
  {
    name: 'Tool failed',
    description: 'A tool answered that it could not do what it was asked.',
    expression: 'signals.toolFailures > 0',
    score: 'signals.toolFailures',
  },
]

/** Makes them where there are none. */
export const makeMonitors = (db: Db, org: OrgId): Promise<void> =>
  db.transaction().execute(async (trx) => {
    if ((await countMonitors(trx, org)) > 0) return
    for (const { name, description, ...definition } of monitors) {
      const id = newId()
      const kind = 'rule' as const
      await insertMonitor(trx, org, { id, name, description, kind, enabled: true, scope: {}, samplePercent: 100 })
      await insertMonitorVersion(trx, org, id, 1, definition)
    }
  })
