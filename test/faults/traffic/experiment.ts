// Compares the counts of a running experiment with counts of all rows.
import type { Stage } from '../stage.ts'

type Figures = { conversations: number; observed: number; sum: number }

export const compareExperiment = async (stage: Stage): Promise<string[]> => {
  const { client, key, query, org, experimentId, armIds, monitors } = stage
  const { body } = await client.send('GET', `/v1/experiments/${experimentId}`, [200], { key })
  const found: string[] = []
  for (const { metricId, arms } of body.outcomes) {
    const rows: (Figures & { arm: string })[] = await query(
      `SELECT c.agent_version_id AS arm, count(*)::int AS conversations, count(r.result)::int AS observed,
         coalesce(sum(r.result), 0)::int AS sum
       FROM conversations c LEFT JOIN monitor_results r
         ON r.organization_id = $1 AND r.conversation_id = c.id AND r.monitor_id = $2 AND r.status = 0
       WHERE c.organization_id = $1 AND c.agent_version_id = ANY($3::uuid[]) AND c.status = 'completed'
         AND c.started_at >= $4
       GROUP BY 1`,
      [org, metricId, armIds, stage.startedAt],
    )
    for (const [at, arm] of (['a', 'b'] as const).entries()) {
      const { conversations, observed, sum }: Figures = arms[arm]
      const row = rows.find((one) => one.arm === armIds[at])
      const counted = { conversations: row?.conversations ?? 0, observed: row?.observed ?? 0, sum: row?.sum ?? 0 }
      const [told, right] = [{ conversations, observed, sum }, counted].map((figures) => JSON.stringify(figures))
      const name = metricId === monitors.rule ? 'the rule' : 'the judge'
      if (told !== right) found.push(`the experiment says ${told} of ${name} in arm ${arm} in place of ${right}`)
    }
  }
  return found
}
