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
    name: 'Left waiting',
    description: 'The customer asks whether anybody is there still, or has no more time.',
    expression: "turns.by('customer').mentions('still there|another time|no time|not have time')",
  },
  {
    name: 'Slow to answer',
    description: 'One answer in twenty takes longer than two and a half seconds. The score is that time.',
    expression: 'signals.responseLatencyMs.p95 > 2500',
    score: 'signals.responseLatencyMs.p95',
  },
  {
    name: 'Is interrupted',
    description: 'The customer cuts the agent short more than once. The score says how often.',
    expression: 'signals.interruptions.byCustomer > 1',
    score: 'signals.interruptions.byCustomer',
  },
  {
    name: 'Handed over after an apology',
    description: 'The agent says sorry and puts the customer through later.',
    expression:
      "turns.by('agent').mentioning('through|transferring').after(turns.by('agent').mentioning('sorry|apolog')).size() > 0",
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
