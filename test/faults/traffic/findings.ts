// Creates findings with conversations. A creation can't be repeated safely, so after a lost response, a finding may
// exist or not.
import type { Stage, Traffic } from '../stage.ts'
import type { ConversationTraffic } from './conversations.ts'

type Row = { id: string; title: string; conversations: string[] }

export const openFindings = (
  { client, query, org, reviewers, random }: Stage,
  conversations: ConversationTraffic,
): Traffic => {
  const filed = new Map<string, string>()
  const attached = new Map<string, Set<string>>()
  const tried = new Set<string>()

  const send = async (number: number) => {
    const { key } = random.pick(reviewers)
    const title = `Finding ${number}`
    tried.add(title)
    const made = await client.attempt('POST', '/v1/findings', { key, body: { title } })
    if (!made) return
    if (made.status !== 201) throw new Error(`a finding was answered ${made.status} ${JSON.stringify(made.body)}`)
    const id: string = made.body.id
    filed.set(id, title)
    for (const conversation of [conversations.take(), conversations.take()]) {
      if (!conversation) continue
      const body = { conversationId: conversation.id }
      await client.send('POST', `/v1/findings/${id}/conversations`, [200, 201], { key, body })
      attached.set(id, (attached.get(id) ?? new Set()).add(conversation.id))
    }
  }

  const compare = async () => {
    const rows: Row[] = await query(
      `SELECT f.id, f.title, ARRAY(SELECT a.conversation_id::text FROM finding_conversations a
         WHERE a.organization_id = $1 AND a.finding_id = f.id) AS conversations
       FROM findings f WHERE f.organization_id = $1 AND f.source_kind = 'manual'`,
      [org],
    )
    const titles = rows.map(({ title }) => title)
    const stored = new Map(rows.map(({ id, title }) => [id, title]))
    const twice = titles.filter((title, at) => titles.indexOf(title) < at)
    const unknown = titles.filter((title) => !tried.has(title))
    const lost = [...filed].filter(([id, title]) => stored.get(id) !== title)
    return [
      ...twice.map((title) => `${title} is there twice`),
      ...unknown.map((title) => `${title} was never filed`),
      ...rows.flatMap(faultsOfConversations),
      ...lost.map(([, title]) => `${title} was acknowledged and is not stored`),
    ]
  }

  const faultsOfConversations = ({ id, title, conversations }: Row): string[] => {
    const actual = conversations.toSorted().join()
    const expected = [...(attached.get(id) ?? [])].sort().join()
    return actual === expected ? [] : [`${title} has the conversations ${actual} in place of ${expected}`]
  }

  return { send, compare }
}
