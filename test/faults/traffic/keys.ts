// Creates and revokes keys. A creation can't be repeated safely, so after a lost response, a key may exist once or not
// at all.
import type { Stage, Traffic } from '../stage.ts'

export const openKeys = ({ client, key, random, query, org }: Stage): Traffic => {
  const live = new Map<string, string>()
  const revoked = new Map<string, string>()
  const tried = new Set<string>()

  const send = async (number: number) => {
    const name = `key ${number}`
    tried.add(name)
    const made = await client.attempt('POST', '/v1/api-keys', { key, body: { name, role: 'viewer' } })
    if (!made) return
    if (made.status !== 201) throw new Error(`a key was answered ${made.status} ${JSON.stringify(made.body)}`)
    live.set(made.body.id, made.body.key)
    if (!random.chance(0.5)) return
    await client.send('DELETE', `/v1/api-keys/${made.body.id}`, [204], { key })
    live.delete(made.body.id)
    revoked.set(made.body.id, made.body.key)
  }

  const compare = async () => {
    const found: string[] = []
    const rows: { name: string; count: number; audited: number }[] = await query(
      `SELECT k.name, count(*)::int AS count, (SELECT count(*)::int FROM audit_events e WHERE e.organization_id = $1
         AND e.action = 'apiKey.create' AND e.targets @> jsonb_build_array(jsonb_build_object('id', min(k.id::text)))) AS audited
       FROM api_keys k WHERE k.organization_id = $1 AND k.name LIKE 'key %' GROUP BY k.name`,
      [org],
    )
    for (const { name, count, audited } of rows) {
      if (count > 1) found.push(`${name} is there ${count} times`)
      if (audited !== 1) found.push(`the making of ${name} was noted ${audited} times`)
      if (!tried.has(name)) found.push(`${name} was never asked for`)
    }
    const made: { id: string }[] = await query(
      `SELECT e.id FROM audit_events e WHERE e.organization_id = $1 AND e.action = 'apiKey.create' AND NOT EXISTS (
         SELECT FROM api_keys k WHERE k.organization_id = $1 AND k.id::text = e.targets->0->>'id')`,
      [org],
    )
    found.push(...made.map(({ id }) => `the event ${id} notes a key that is not there`))
    const ask = async (keys: Map<string, string>, status: number) => {
      for (const [id, secret] of keys) {
        // A process that has seen two hundred unknown keys rejects further ones for a while.
        const answer = await client.send('GET', '/v1/me', [200, 401], { key: secret, again: [429] })
        if (answer.status !== status) found.push(`the key ${id} is answered ${answer.status} in place of ${status}`)
      }
    }
    await ask(live, 200)
    await ask(revoked, 401)
    return found
  }

  return { send, compare }
}
