// Sends conversations one at a time and in batches, some of them twice at the same time, and compares their
// evaluations.
import type { Stage, Traffic } from '../stage.ts'
import { angryWords } from '../world.ts'

const batchSize = 6

export type ConversationTraffic = Traffic & {
  /** The IDs of acknowledged conversations by their external IDs. */
  acknowledged: Map<string, string>
  take: () => { externalId: string; id: string } | undefined
}

const isRefund = (number: number) => number % 3 === 0
const isAngry = (number: number) => number % 4 === 0

const transcriptOf = (number: number) => [
  { role: 'agent', text: `Your number is ${number}.` },
  { role: 'customer', text: isRefund(number) ? 'I want a refund.' : 'Thank you.' },
  { role: 'customer', text: isAngry(number) ? angryWords : 'Good bye.' },
]

export const openConversations = (stage: Stage): ConversationTraffic => {
  const { org, key, client, random, query, monitors } = stage
  const acknowledged = new Map<string, string>()
  const tried = new Map<string, number>()
  const faults: string[] = []
  let next = 0

  const versionOf = (number: number) => stage.armIds[number % 2]

  const make = () => {
    const number = next++
    const externalId = `call-${number}`
    tried.set(externalId, number)
    return {
      externalId,
      agentId: stage.agentId,
      agentVersionId: versionOf(number),
      channel: 'call',
      // The experiment only counts conversations that start after its launch.
      startedAt: new Date(stage.startedAt.getTime() + 1_000 + number).toISOString(),
      transcript: transcriptOf(number),
    }
  }

  const acknowledge = (externalId: string, id: string) => {
    const before = acknowledged.get(externalId)
    if (before !== undefined && before !== id) faults.push(`${externalId} was acknowledged as ${before} and as ${id}`)
    acknowledged.set(externalId, id)
  }

  const sendOne = async () => {
    const body = make()
    const once = async () => {
      const answer = await client.send('POST', '/v1/conversations', [200, 201], { key, body })
      acknowledge(body.externalId, answer.body.id)
    }
    await Promise.all(random.chance(0.3) ? [once(), once()] : [once()])
  }

  const sendBatch = async () => {
    const bodies = Array.from({ length: batchSize }, make)
    const sent = random.chance(0.5)
      ? { key, body: { conversations: bodies } }
      : {
          key,
          raw: {
            bytes: Buffer.from(bodies.map((body) => JSON.stringify(body)).join('\n')),
            headers: { 'content-type': 'application/x-ndjson' },
          },
        }
    const { body: answer } = await client.send('POST', '/v1/conversations/batch', [200], sent)
    for (const [index, { externalId }] of bodies.entries()) {
      const told = answer.data[index]
      if (told?.id === undefined) faults.push(`${externalId} of a batch was answered ${JSON.stringify(told)}`)
      else acknowledge(externalId, told.id)
    }
  }

  type Row = {
    externalId: string
    id: string
    status: string
    versionId: string | null
    turns: number
    content: string
    /** The number of evaluations that are not deleted yet. Completed jobs are deleted after a while. */
    evaluations: number
    results: [string, number][] | null
    /** The reasons why results are missing. */
    reasons: string[] | null
  }
  /** Compares all stored conversations, except those of other traffic. */
  const compare = async () => {
    const rows: Row[] = await query(
      `SELECT c.external_id AS "externalId", c.id, c.status, c.agent_version_id AS "versionId", t.turn_count AS turns,
         t.content,
         (SELECT jsonb_agg(jsonb_build_array(r.monitor_id, r.result)) FROM monitor_results r
          WHERE r.organization_id = $1 AND r.conversation_id = c.id AND r.monitor_id = ANY($2::uuid[])) AS results,
         (SELECT jsonb_agg(r.reasoning) FROM monitor_results r
          WHERE r.organization_id = $1 AND r.conversation_id = c.id AND r.result IS NULL) AS reasons,
         (SELECT count(*)::int FROM jobs j WHERE j.organization_id = $1 AND j.name = 'conversation.evaluate'
          AND j.payload->'conversationIds' ? c.id::text) AS evaluations
       FROM conversations c LEFT JOIN transcripts t ON t.organization_id = $1 AND t.conversation_id = c.id
       WHERE c.organization_id = $1 AND (c.external_id ~ '^(erased|reviewed|vapi|retell|elevenlabs)-') IS NOT TRUE`,
      [org, [monitors.rule, monitors.judge]],
    )
    return [...faults, ...faultsOfIds(rows), ...rows.flatMap(faultsOfRow)]
  }

  const faultsOfIds = (rows: Row[]): string[] => {
    const stored = new Map(rows.map(({ externalId, id }) => [externalId, id]))
    const twice = rows.filter(({ externalId, id }) => stored.get(externalId) !== id)
    const wrong = [...acknowledged].filter(([externalId, id]) => stored.get(externalId) !== id)
    return [
      ...twice.map(({ externalId }) => `${externalId} is stored twice`),
      ...wrong.map(
        ([externalId, id]) =>
          `${externalId} was acknowledged as ${id} and is stored as ${stored.get(externalId) ?? 'nothing'}`,
      ),
    ]
  }

  const faultsOfRow = (row: Row): string[] => {
    const { externalId, status, versionId, evaluations } = row
    const number = tried.get(externalId)
    if (number === undefined) return [`${externalId} was never sent`]
    const faults = [...faultsOfTranscript(row, number), ...faultsOfResults(row, number)]
    if (evaluations > 1) faults.push(`${externalId} was evaluated ${evaluations} times`)
    if (status !== 'completed') faults.push(`${externalId} is ${status}`)
    if (versionId !== versionOf(number)) faults.push(`${externalId} is of the version ${versionId}`)
    return faults
  }

  const faultsOfTranscript = ({ externalId, turns, content }: Row, number: number): string[] => {
    if (turns !== transcriptOf(number).length) return [`${externalId} has ${turns} turns`]
    return content.includes(`Your number is ${number}.`) ? [] : [`${externalId} has another's transcript`]
  }

  const faultsOfResults = ({ externalId, results, reasons }: Row, number: number): string[] => {
    const wanted = [
      [monitors.rule, isRefund(number) ? 1 : 0],
      [monitors.judge, isAngry(number) ? 1 : 0],
    ]
    const [actual, expected] = [results ?? [], wanted].map((list) => JSON.stringify(list.toSorted()))
    const reason = reasons?.join('; ') ?? 'no reason is stored'
    return actual === expected ? [] : [`${externalId} has the results ${actual} in place of ${expected}: ${reason}`]
  }

  return {
    send: () => (random.chance(0.7) ? sendOne() : sendBatch()),
    compare,
    acknowledged,
    take: () => {
      const all = [...acknowledged]
      const [externalId, id] = all.length > 0 ? random.pick(all) : []
      return externalId !== undefined && id !== undefined ? { externalId, id } : undefined
    },
  }
}
