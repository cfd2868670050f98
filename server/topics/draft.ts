// Drafts a monitor that finds the conversations of a topic. Nothing is stored.

import { dot, readFloats } from '../clustering/vectors.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import { shown } from './list.ts'
import {
  getTopic,
  listCenters,
  listConversations,
  listTopicIdsWithin,
  listTopics,
  type StoredTopic,
} from './queries.ts'
import { readRequests } from './requests.ts'

const examplesOfTopic = 5
const mostNeighbors = 3
const longestText = 300

/**
 * Returns the other topics that a monitor could most easily confuse with these: the most similar ones, most similar
 * first.
 */
const findNeighbors = async (db: Db, org: OrgId, ids: Set<string>): Promise<StoredTopic[]> => {
  const centers = (await listCenters(db, org)).map(({ id, model, center }) => ({
    id,
    model,
    vector: readFloats(center),
  }))
  const own = centers.filter(({ id }) => ids.has(id))
  const similarities = centers.flatMap(({ id, model, vector }) => {
    const comparable = own.filter((center) => center.model === model)
    if (ids.has(id) || comparable.length === 0) return []
    return [{ id, similarity: Math.max(...comparable.map((center) => dot(center.vector, vector))) }]
  })
  similarities.sort((a, b) => b.similarity - a.similarity)
  const topics = new Map((await listTopics(db, org)).map((topic) => [topic.id, topic]))
  const nearest = similarities.flatMap(({ id }) => topics.get(topics.get(id)?.mergedIntoId ?? id) ?? [])
  return [...new Set(nearest)].slice(0, mostNeighbors)
}

/** Describes the topic without quotes, because a quote would stay in the definition when its conversation is erased. */
const criteriaOf = (label: string, terms: string[], others: string[]): string => {
  const typical = terms.join(', ')
  const lines = [
    `The customer asks for help with this topic: ${label}.`,
    ...(typical !== '' && typical !== label ? [`Typical words are: ${typical}.`] : []),
    ...(others.length > 0
      ? [`Not affected if the customer only asks about something else, such as: ${others.join('; ')}.`]
      : []),
  ]
  return lines.join('\n')
}

/** Returns a rule that matches any of the terms, with straight and curly apostrophes. */
const expressionOf = (terms: string[]): string =>
  `turns.by('customer').mentions(${JSON.stringify(terms.join('|').replaceAll("'", "['’]"))})`

const definitionOf = (kind: 'judge' | 'rule', { label, terms }: ReturnType<typeof shown>, others: string[]) =>
  kind === 'rule'
    ? { expression: expressionOf(terms) }
    : { criteria: criteriaOf(label, terms, others), output: { type: 'boolean' as const } }

export const draftMonitor = async (deps: Deps, org: OrgId, id: string, kind: 'judge' | 'rule') => {
  const db = deps.database.dbOf(org)
  const topic = shown(await getTopic(db, org, id))
  if (topic.label === '' || (kind === 'rule' && topic.terms.length === 0)) {
    const remedy = kind === 'rule' ? 'Draft a judge instead.' : 'Rename it first.'
    throw new ApiError('conflict', `The topic has no typical terms. ${remedy}`)
  }
  const ids = new Set(await listTopicIdsWithin(db, org, topic.id))
  const neighbors = await findNeighbors(db, org, ids)
  const typical = async (topicIds: string[], limit: number) => {
    const rows = await listConversations(db, org, topicIds, { limit, after: undefined })
    return rows.slice(0, limit).map(({ conversationId }) => conversationId)
  }
  const affected = await typical([...ids], examplesOfTopic)
  const notAffected: string[] = []
  for (const neighbor of neighbors) {
    notAffected.push(...(await typical(await listTopicIdsWithin(db, org, neighbor.id), 1)))
  }
  const requests = await readRequests(deps, org, [...affected, ...notAffected])
  const examples = (of: string[]) =>
    of.flatMap((conversationId) => {
      const text = requests.get(conversationId)
      return text === undefined ? [] : [{ conversationId, text: Array.from(text).slice(0, longestText).join('') }]
    })
  const others = neighbors.map((neighbor) => shown(neighbor).label).filter((label) => label !== '')
  return {
    kind,
    name: topic.label,
    description: `Drafted from the topic “${topic.label}”.`,
    definition: definitionOf(kind, topic, others),
    examples: { affected: examples(affected), notAffected: examples(notAffected) },
  }
}
