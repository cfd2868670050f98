// Findings that people file, with conversations. To file one is not repeatable: one whose answer was lost may be there.
import type { Stage, Traffic } from '../stage.ts'
import type { Sender } from './conversations.ts'

export const openFindings = ({ client, query, org, reviewers, random }: Stage, conversations: Sender): Traffic => {
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
    const rows: { id: string; title: string; conversations: string[] }[] = await query(
      `SELECT f.id, f.title, ARRAY(SELECT a.conversation_id::text FROM finding_conversations a
         WHERE a.organization_id = $1 AND a.finding_id = f.id) AS conversations
       FROM findings f WHERE f.organization_id = $1 AND f.source_kind = 'manual'`,
      [org],
    )
    const found: string[] = []
    for (const [at, { id, title, conversations }] of rows.entries()) {
      if (rows.findIndex((row) => row.title === title) < at) found.push(`${title} is there twice`)
      if (!tried.has(title)) found.push(`${title} was never filed`)
      const [told, right] = [conversations, [...(attached.get(id) ?? [])]].map((list) => list.toSorted().join())
      if (told !== right) found.push(`${title} has the conversations ${told} in place of ${right}`)
    }
    for (const [id, title] of filed) {
      const row = rows.find((one) => one.id === id)
      if (row?.title !== title) found.push(`${title} was acknowledged and is not stored`)
    }
    return found
  }

  return { send, compare }
}
