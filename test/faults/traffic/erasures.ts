// Checks that erased conversations stay erased, even if parts of them arrive again.
import { wav } from '../../make.ts'
import type { Stage, Traffic } from '../stage.ts'

export const openErasures = ({ client, key, agentId, startedAt, query, org, world }: Stage): Traffic => {
  const erased = new Set<string>()
  const files: string[] = []
  // These conversations start before the exported periods, because erasing one removes the files that contain it.
  const begunAt = new Date(startedAt.getTime() - 2 * 3_600_000).toISOString()

  /** Lists files directly from the database, and none while it is unavailable. */
  const listFiles = async (id: string): Promise<string[]> => {
    const text = 'SELECT blob_key AS key FROM recordings WHERE organization_id = $1 AND conversation_id = $2'
    return (await query(text, [org, id]).catch(() => [])).map(({ key }) => key)
  }

  const send = async (number: number) => {
    const externalId = `erased-${number}`
    const body = {
      externalId,
      agentId,
      channel: 'call',
      startedAt: begunAt,
      transcript: [{ role: 'customer', text: 'Forget me.' }],
    }
    const made = await client.send('POST', '/v1/conversations', [200, 201], { key, body })
    const path = `/v1/conversations/${made.body.id}`
    const raw = { bytes: wav(), headers: { 'content-type': 'audio/wav' } }
    await client.send('PUT', `${path}/recording`, [200], { key, raw })
    files.push(...(await listFiles(made.body.id)))
    await client.send('DELETE', path, [204], { key, done: [404] })
    erased.add(made.body.id)
    await client.send('POST', '/v1/conversations', [409], { key, body })
  }

  const compare = async () => {
    const ids = [...erased]
    const rows: { kind: string; id: string }[] = await query(
      `SELECT 'the conversation' AS kind, id::text FROM conversations
       WHERE organization_id = $1 AND (id = ANY($2::uuid[]) OR external_id LIKE 'erased-%')
       UNION ALL SELECT 'the transcript', conversation_id::text FROM transcripts
       WHERE organization_id = $1 AND conversation_id = ANY($2::uuid[])
       UNION ALL SELECT 'a result', conversation_id::text FROM monitor_results
       WHERE organization_id = $1 AND conversation_id = ANY($2::uuid[])
       UNION ALL SELECT 'the recording', conversation_id::text FROM recordings
       WHERE organization_id = $1 AND conversation_id = ANY($2::uuid[])`,
      [org, ids],
    )
    const found = rows.map(({ kind, id }) => `${kind} of ${id} was erased and is there`)
    for (const id of ids.slice(0, 3)) {
      const { status } = await client.send('GET', `/v1/conversations/${id}`, [200, 404], { key })
      if (status === 200) found.push(`the conversation ${id} was erased and is shown`)
    }
    const named: { key: string }[] = await query(
      'SELECT blob_key AS key FROM recordings WHERE organization_id = $1 AND blob_key IS NOT NULL',
      [org],
    )
    const stored = await world.storage.list(`${org}/recordings/`)
    const lost = named.filter((row) => !stored.includes(row.key)).map((row) => `the file ${row.key} is lost`)
    const left = files.filter((file) => stored.includes(file)).map((file) => `the file ${file} was erased and is there`)
    return [...found, ...lost, ...left]
  }

  return { send, compare }
}
