import { hash } from 'node:crypto'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'
import { findVersionByContent, insertVersion, lockAgent, updateAgent } from './queries.ts'

/** Returns the object with property names sorted at each level. Request limits bound the depth of configurations. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, part]) => [name, canonical(part)]))
}

type Content = { systemPrompt: string; config: Record<string, unknown>; label: string | null }

/** Hashes the content that identifies a version: its prompt and configuration, but not its label. */
export const hashContent = ({ systemPrompt, config }: Omit<Content, 'label'>): string =>
  hash('sha256', JSON.stringify([systemPrompt, canonical(config)]), 'base64')

/** Returns the agent's version with this content: the existing one or a new one, which becomes current. */
export const findOrMakeVersion = async (trx: Db, org: OrgId, agentId: string, content: Content) => {
  await lockAgent(trx, org, agentId)
  const contentHash = hashContent(content)
  const present = await findVersionByContent(trx, org, agentId, contentHash)
  if (present) return { version: present, made: false }
  const version = await insertVersion(trx, org, { id: newId(), agentId, contentHash, ...content })
  await updateAgent(trx, org, agentId, { currentVersionId: version.id })
  return { version, made: true }
}
