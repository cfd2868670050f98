import { listSelected } from '../filters/queries.ts'
import { attachConversations } from '../findings/attachments/queries.ts'
import { insertComment } from '../findings/comments/queries.ts'
import { parseFilter as parseFindingFilter } from '../findings/filter.ts'
import { insertFinding, listFindings, moveFinding } from '../findings/queries.ts'
import { getFirstOwner } from '../members/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'

type ScriptedFinding = Parameters<typeof moveFinding>[2]['to'] & {
  title: string
  says: string
  tags: string[]
  daysAgo: number
  /** Words that find matching conversations, and the number of conversations to attach. */
  text: string
  shown: number
  comments?: string[]
}

const findings: ScriptedFinding[] = [
  {
    title: 'Callers are left waiting while an order is looked up',
    says: 'The agent is silent during the lookup. Callers ask whether anyone is still there.',
    status: 'open',
    priority: 'high',
    tags: ['latency', 'voice'],
    daysAgo: 2,
    text: '"still there"',
    shown: 12,
    comments: ['The lookup takes 300 ms. The silence starts after it.'],
  },
  {
    title: 'Callers who ask for a person get more questions first',
    says: 'After “can I have a real person”, the agent starts another round of questions.',
    status: 'acknowledged',
    priority: 'urgent',
    tags: ['handover'],
    daysAgo: 6,
    text: '"real person"',
    shown: 9,
    comments: [
      'The prompt in the current experiment offers a colleague immediately.',
      'Wait for the experiment before changing anything else.',
    ],
  },
  {
    title: 'Refunds are promised within five days even during holidays',
    says: 'Finance needs seven days in December.',
    status: 'open',
    priority: 'low',
    tags: ['wording'],
    daysAgo: 1,
    text: '"within five days"',
    shown: 4,
  },
  {
    title: 'The agent apologizes for things the caller did not complain about',
    says: 'Noticed in reviews. Harmless, but it sounds odd.',
    status: 'ignored',
    priority: 'none',
    tags: ['wording'],
    daysAgo: 12,
    text: 'confusion',
    shown: 3,
  },
  {
    title: 'Order numbers with five digits are read as two numbers',
    says: 'Fixed by the new version of the speech recognizer.',
    status: 'resolved',
    priority: 'medium',
    tags: ['recognition', 'voice'],
    daysAgo: 20,
    text: 'order',
    shown: 5,
    comments: ['Not seen since last week’s change.'],
  },
]

const documentOf = (text: string) => ({
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
})

/** Creates the demo's findings if there are none. */
export const makeFindings = (db: Db, org: OrgId, anchor: Date): Promise<void> =>
  db.transaction().execute(async (trx) => {
    const present = await listFindings(trx, org, parseFindingFilter({ limit: 1 }), { limit: 1, after: undefined })
    if (present.length > 0) return
    const { userId } = await getFirstOwner(trx, org)
    for (const { title, says, status, priority, tags, daysAgo, text, shown, comments = [] } of findings) {
      const now = new Date(anchor.getTime() - daysAgo * 86_400_000)
      const id = newId()
      await insertFinding(trx, org, {
        id,
        title,
        description: documentOf(says),
        priority,
        tags,
        findingType: 0,
        createdByUserId: userId,
        source: { kind: 'manual' },
        now,
      })
      if (status !== 'open') {
        await moveFinding(trx, org, {
          id: newId(),
          findingId: id,
          kind: 'triage',
          byUserId: userId,
          now,
          from: { status: 'open', priority },
          to: { status, priority },
        })
      }
      const found = await listSelected(trx, org, { text }, { limit: shown, after: undefined })
      await attachConversations(
        trx,
        org,
        id,
        found.slice(0, shown).map((conversation) => conversation.id),
        now,
      )
      for (const comment of comments) {
        await insertComment(trx, org, {
          id: newId(),
          findingId: id,
          authorUserId: userId,
          body: documentOf(comment),
          now,
        })
      }
    }
  })
