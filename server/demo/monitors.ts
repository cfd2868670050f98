import { countMonitors, insertMonitor, insertMonitorVersion } from '../monitors/queries.ts'
import type { ScorecardItem } from '../monitors/scorecards/algebra.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'

type DemoMonitor = {
  name: string
  description: string
  expression: string
  score?: string
  categories?: string
  fields?: string
}

const customerMentions = (pattern: string) => `turns.by('customer').mentions('${pattern}')`

/** These are rules, because a judge would need a model. */
const monitors: DemoMonitor[] = [
  {
    name: 'Asks for a person',
    description: 'The customer wants to talk to a human.',
    expression: "turns.by('customer').mentions('real person|human|speak to a person')",
  },
  {
    name: 'Left waiting',
    description: 'The customer asks whether anyone is still there, or runs out of time.',
    expression: "turns.by('customer').mentions('still there|another time|no time|not have time')",
  },
  {
    name: 'Slow to answer',
    description: 'The 95th percentile of the response latency exceeds 2.5 seconds. The score is that latency.',
    expression: 'signals.responseLatencyMs.p95 > 2500',
    score: 'signals.responseLatencyMs.p95',
  },
  {
    name: 'Is interrupted',
    description: 'The customer interrupts the agent more than once. The score is the number of interruptions.',
    expression: 'signals.interruptions.byCustomer > 1',
    score: 'signals.interruptions.byCustomer',
  },
  {
    name: 'Handed over after an apology',
    description: 'The agent apologizes and later transfers the customer.',
    expression:
      "turns.by('agent').mentioning('through|transferring').after(turns.by('agent').mentioning('sorry|apolog')).size() > 0",
  },
  {
    name: 'Tool failed',
    description: 'A tool call failed.',
    expression: 'signals.toolFailures > 0',
    score: 'signals.toolFailures',
  },
  {
    name: 'Reason for contact',
    description: 'What the customer wants, by category. A conversation is affected if it is about a refund.',
    expression: customerMentions('refund|money back'),
    categories: `{
  'refund': ${customerMentions('refund|money back')},
  'delivery': ${customerMentions('where is my order|has not arrived|should have been here')},
  'account': ${customerMentions('log in|my password')},
  'booking': ${customerMentions('book an appointment|something free')},
  'rescheduling': ${customerMentions('(move|change) my appointment')},
  'prices': ${customerMentions('how much is|charge for')}
}`,
  },
  {
    name: 'Refund paid',
    description: 'The agent refunds an order. The fields contain the amount, and how long it took.',
    expression: "turns.calls('refund_order').size() > 0",
    fields: `{
  'amount': double(turns.calls('refund_order').first().tool.arguments.amount),
  'messages': turns.filter(t, t.kind == 'message').size(),
  'durationSeconds': conversation.durationSeconds
}`,
  },
]

/** The scorecard adds up rules that have a result for every conversation. */
const scorecard = {
  name: 'Service quality',
  description: 'How well the agent served the customer, from 0 to 100. A conversation is affected below 60.',
  sections: [
    {
      name: 'Patience of the customer',
      items: [
        { name: 'Left waiting', points: 40 },
        { name: 'Asks for a person', points: 20 },
      ],
    },
    {
      name: 'Reliability',
      items: [
        { name: 'Tool failed', points: 25 },
        { name: 'Handed over after an apology', points: 15 },
      ],
    },
  ],
  bands: [
    { name: 'Poor', from: 0 },
    { name: 'Fair', from: 60 },
    { name: 'Good', from: 85 },
  ],
  affectedBelow: 60,
}

/** Returns the definition in its stored form, with all defaults. */
const scorecardDefinition = (idOf: (name: string) => string): Record<string, unknown> => ({
  sections: scorecard.sections.map(({ name, items }) => ({
    name,
    items: items.map((item): ScorecardItem => {
      return { monitorId: idOf(item.name), points: item.points, notApplicable: 'exclude', autoFail: false }
    }),
  })),
  bands: scorecard.bands,
  affectedBelow: scorecard.affectedBelow,
})

/** Creates the monitors if the organization has none. */
export const makeMonitors = (db: Db, org: OrgId): Promise<void> =>
  db.transaction().execute(async (trx) => {
    if ((await countMonitors(trx, org)) > 0) return
    const ids = new Map(monitors.map(({ name }) => [name, newId()]))
    const idOf = (name: string): string => {
      const id = ids.get(name)
      if (id === undefined) throw new Error(`The demo has no monitor named ${name}.`)
      return id
    }
    const everywhere = { enabled: true, scope: {}, samplePercent: 100 }
    for (const { name, description, ...definition } of monitors) {
      const id = idOf(name)
      await insertMonitor(trx, org, { id, name, description, kind: 'rule', ...everywhere })
      await insertMonitorVersion(trx, org, id, 1, definition)
    }
    const id = newId()
    const { name, description } = scorecard
    await insertMonitor(trx, org, { id, name, description, kind: 'scorecard', ...everywhere })
    await insertMonitorVersion(trx, org, id, 1, scorecardDefinition(idOf))
  })
