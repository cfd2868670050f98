import { findVersions, insertVersions, lockAgents, setCurrentVersions } from '../../agents/queries.ts'
import { hashContent } from '../../agents/version.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { type ApiError, invalid } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { VersionReference } from './incoming.ts'

/** Finds or creates the agent versions for all conversations in a batch. */

export type VersionQuestion = { agentId: string; version: VersionReference }

/** Returns the content of a new version. Without a prompt, only the label identifies it. */
const contentToMake = (version: VersionReference) => {
  if ('systemPrompt' in version) {
    return { systemPrompt: version.systemPrompt, config: {}, label: version.label ?? null }
  }
  if ('label' in version && version.make) {
    return { systemPrompt: '', config: { version: version.label }, label: version.label }
  }
  return undefined
}

const labelKey = (agentId: string, label: string) => `${agentId} label ${label}`
const contentKey = (agentId: string, contentHash: string) => `${agentId} content ${contentHash}`

export const versionKey = ({ agentId, version }: VersionQuestion): string => {
  if ('id' in version) return `${agentId} id ${version.id.toLowerCase()}`
  if ('systemPrompt' in version) return contentKey(agentId, hashContent({ ...version, config: {} }))
  return labelKey(agentId, version.label)
}

export const unknownVersion = (version: VersionReference): ApiError =>
  'id' in version
    ? invalid('agentVersionId', 'must be a version of this agent')
    : invalid('agentVersionLabel', 'must be a version of this agent')

/** Adds the existing versions under each of their keys. */
const addPresent = async (db: Db, org: OrgId, questions: VersionQuestion[], found: Map<string, string>) => {
  const versions = questions.map(({ version }) => version)
  const rows = await findVersions(db, org, {
    agentIds: [...new Set(questions.map(({ agentId }) => agentId))],
    ids: versions.flatMap((version) => ('id' in version ? version.id : [])),
    labels: versions.flatMap((version) => ('label' in version ? (version.label ?? []) : [])),
    hashes: versions.flatMap((version) => {
      const content = contentToMake(version)
      return content ? hashContent(content) : []
    }),
  })
  for (const { id, agentId, label, contentHash } of rows) {
    found.set(`${agentId} id ${id}`, id)
    found.set(contentKey(agentId, contentHash), id)
    if (label !== null) found.set(labelKey(agentId, label), id)
  }
}

/** Returns the version for each key. A key is missing if its version does not exist and no item creates it. */
export const resolveVersions = async (trx: Db, org: OrgId, wanted: Map<string, VersionQuestion>) => {
  const found = new Map<string, string>()
  if (wanted.size === 0) return found
  await addPresent(trx, org, [...wanted.values()], found)
  const missing = [...wanted].filter(([key, { version }]) => !found.has(key) && contentToMake(version))
  if (missing.length === 0) return found
  const questions = missing.map(([, question]) => question)
  const agentIds = [...new Set(questions.map(({ agentId }) => agentId))]
  await lockAgents(trx, org, agentIds)
  // No other transaction can add versions, because the agents are locked.
  await addPresent(trx, org, questions, found)

  const made = missing.flatMap(([key, { agentId, version }]) => {
    const content = contentToMake(version)
    if (!content || found.has(key)) return []
    const contentHash = hashContent(content)
    const present = found.get(contentKey(agentId, contentHash))
    const id = present ?? newId()
    found.set(key, id)
    if (present) return []
    const isLabelTaken = content.label !== null && (found.get(labelKey(agentId, content.label)) ?? id) !== id
    const label = isLabelTaken ? null : content.label
    if (label !== null) found.set(labelKey(agentId, label), id)
    return [{ id, agentId, contentHash, ...content, label }]
  })
  if (made.length > 0) {
    await insertVersions(trx, org, made)
    await setCurrentVersions(trx, org, new Map(made.map(({ agentId, id }) => [agentId, id])))
  }
  return found
}
