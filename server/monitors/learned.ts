// Manages the learned parts of a judge's definition: examples from reviews, and guidelines that an alignment distilled.
// Only alignments add them. Requests can keep or remove them.

import { isDeepStrictEqual } from 'node:util'
import type { Db, OrgId } from '../platform/db/database.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import type { MonitorDefinition } from './definition.ts'
import type { Example, Guideline } from './judges/definition.ts'
import { listVersionsWithLearned } from './queries.ts'

type Learned = { guidelines?: Guideline[]; examples?: Example[] }

/** Returns the learned parts of a definition. Only judges have any. */
const learnedOf = (definition: object): Learned => definition as Learned

const keyOf = ({ conversationId, reviewId }: Pick<Example, 'conversationId' | 'reviewId'>): string =>
  `${conversationId} ${reviewId}`.toLowerCase()

const isDistilled = ({ alignmentId }: Guideline): boolean => alignmentId !== undefined

/** Returns whether a definition refers to content that an alignment has learned. */
const isLearned = ({ guidelines = [], examples = [] }: Learned): boolean =>
  examples.length > 0 || guidelines.some(isDistilled)

/**
 * Returns the definition with the stored content of its examples, which requests only refer to. Throws if it contains
 * an alignment's example or guideline that no version of the monitor has. `monitorId` is undefined for a new monitor.
 */
export const resolveLearned = async (
  db: Db,
  org: OrgId,
  monitorId: string | undefined,
  definition: MonitorDefinition,
): Promise<MonitorDefinition> => {
  const given = learnedOf(definition)
  if (!isLearned(given)) return definition
  const versions = monitorId === undefined ? [] : await listVersionsWithLearned(db, org, monitorId)
  const stored = versions.map((version) => learnedOf(version.definition))
  const known = new Map(stored.flatMap(({ examples = [] }) => examples.map((example) => [keyOf(example), example])))
  const distilled = stored.flatMap(({ guidelines = [] }) => guidelines.filter(isDistilled))
  const issues: Issue[] = []
  const examples = (given.examples ?? []).flatMap((example, at) => {
    const found = known.get(keyOf(example))
    if (!found) issues.push({ path: `definition.examples[${at}]`, message: 'is not an example of this monitor' })
    return found ?? []
  })
  for (const [at, guideline] of (given.guidelines ?? []).entries()) {
    if (!isDistilled(guideline) || distilled.some((one) => isDeepStrictEqual(one, guideline))) continue
    const message = 'is not a guideline of this monitor; leave out alignmentId'
    issues.push({ path: `definition.guidelines[${at}]`, message })
  }
  if (issues.length > 0) throw invalidAll(issues)
  return given.examples ? ({ ...definition, examples } as MonitorDefinition) : definition
}

type Forgotten = { conversationIds: ReadonlySet<string>; alignmentIds: ReadonlySet<string> }

/** Returns the definition without examples of these conversations and guidelines of these alignments. */
export const withoutLearned = (
  definition: Record<string, unknown>,
  { conversationIds, alignmentIds }: Forgotten,
): Record<string, unknown> => {
  const { guidelines, examples } = learnedOf(definition)
  return {
    ...definition,
    ...(guidelines && { guidelines: guidelines.filter(({ alignmentId = '' }) => !alignmentIds.has(alignmentId)) }),
    ...(examples && { examples: examples.filter(({ conversationId }) => !conversationIds.has(conversationId)) }),
  }
}

/** Returns the conversations that a definition uses as examples. */
export const exampleIdsOf = (definition: object): string[] =>
  (learnedOf(definition).examples ?? []).map(({ conversationId }) => conversationId)

/**
 * Hides everything but the IDs of examples that the reader still has to judge, because an excerpt is a hint about
 * people's decisions, and so is whether an example is disputed. Saving such a definition keeps the stored examples.
 */
export const hideExamples = (definition: object, hidden: ReadonlySet<string>): object => {
  const { examples } = learnedOf(definition)
  if (!examples?.some(({ conversationId }) => hidden.has(conversationId))) return definition
  return {
    ...definition,
    examples: examples.map((example) => {
      const { conversationId, reviewId } = example
      return hidden.has(conversationId) ? { conversationId, reviewId } : example
    }),
  }
}
