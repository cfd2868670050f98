// Sends results of an external monitor, and customer metrics.
import type { Stage, Traffic } from '../stage.ts'
import type { ConversationTraffic } from './conversations.ts'

export type Measures = Traffic & { listJudged: () => string[] }

/** The acknowledged values by their keys. */
type Values = Map<string, number | string>

const compareValues = (
  what: string,
  acknowledged: Values,
  rows: { name: string; value: number | string }[],
): string[] => {
  const stored: Values = new Map()
  const found: string[] = []
  for (const { name, value } of rows) {
    if (stored.has(name)) found.push(`${what} of ${name} is there twice`)
    if (!acknowledged.has(name)) found.push(`${what} of ${name} was never sent`)
    stored.set(name, value)
  }
  for (const [name, value] of acknowledged) {
    if (stored.get(name) !== value) found.push(`${what} of ${name} is ${stored.get(name)} in place of ${value}`)
  }
  return found
}

export const openMeasures = (
  { post, client, key, random, query, org, monitors }: Stage,
  conversations: ConversationTraffic,
): Measures => {
  const results: Values = new Map()
  const metrics: Values = new Map()

  const sendResult = async (id: string, score: number) => {
    const result = random.chance(0.5) ? 'affected' : 'not_affected'
    const item = { monitorId: monitors.external, conversationId: id, result, score }
    const { body } = await post('/v1/monitor-results', [200], { results: [item] })
    if (body.data[0].error) throw new Error(`a result was refused: ${JSON.stringify(body)}`)
    results.set(id, `${result} ${score}`)
  }

  const sendMetric = async (id: string, value: number) => {
    await client.send('PUT', `/v1/conversations/${id}/metrics/one-${value}`, [200, 201], { key, body: { value } })
    metrics.set(`${id} one-${value}`, value)
  }

  const sendMetrics = async ({ id, externalId }: { id: string; externalId: string }, value: number) => {
    const item = { conversationExternalId: externalId, key: `batch-${value}`, value }
    const { body } = await post('/v1/customer-metrics', [200], { metrics: [item] })
    if (body.data[0].error) throw new Error(`a metric was refused: ${JSON.stringify(body)}`)
    metrics.set(`${id} batch-${value}`, value)
  }

  const send = async (number: number) => {
    const conversation = conversations.take()
    if (!conversation) return
    const { id } = conversation
    await Promise.all([sendResult(id, number), sendMetric(id, number), sendMetrics(conversation, number)])
  }

  const compare = async () => [
    ...compareValues(
      'the result',
      results,
      await query(
        `SELECT conversation_id AS name,
           concat_ws(' ', CASE result WHEN 1 THEN 'affected' WHEN 0 THEN 'not_affected' END, score) AS value
         FROM monitor_results WHERE organization_id = $1 AND monitor_id = $2`,
        [org, monitors.external],
      ),
    ),
    ...compareValues(
      'the metric',
      metrics,
      await query(
        `SELECT concat_ws(' ', conversation_id, key) AS name, value::float8 AS value FROM customer_metrics
         WHERE organization_id = $1 AND key ~ '^(one|batch)-'`,
        [org],
      ),
    ),
  ]

  return { send, compare, listJudged: () => [...results.keys()] }
}
