import type { Static } from 'typebox'
import { type ApiError, type Issue, invalidAll } from '../../platform/errors.ts'
import { type ConversationCreate, maxMetadataKeys } from '../schema.ts'
import type { AgentReference, Incoming, VersionReference } from './incoming.ts'

type Body = Static<typeof ConversationCreate>

type Bounds = { now: Date; metadataBytes: number }

/** The maximum amount by which a sender's clock can be ahead. */
const aheadMs = 5 * 60_000

const agentOf = ({ agentId, agentExternalId, agent }: Body): AgentReference | undefined => {
  const references: AgentReference[] = []
  if (agentId !== undefined) references.push({ id: agentId })
  if (agentExternalId !== undefined) references.push({ externalId: agentExternalId })
  if (agent) references.push({ externalId: agent.externalId, make: { name: agent.name, channel: agent.channel } })
  return references.length === 1 ? references[0] : undefined
}

const versionsOf = ({ agentVersionId, agentVersionLabel, systemPrompt }: Body): VersionReference[] => {
  const references: VersionReference[] = []
  if (agentVersionId !== undefined) references.push({ id: agentVersionId })
  if (agentVersionLabel !== undefined) references.push({ label: agentVersionLabel })
  if (systemPrompt !== undefined) references.push({ systemPrompt })
  return references
}

/** Validates the metadata in a request, or the metadata that results from merging it with stored metadata. */
export const metadataIssues = (metadata: object, bytes: number): Issue[] => {
  const text = JSON.stringify(metadata)
  // A UTF-16 code unit takes at most three bytes in UTF-8, so short texts don't have to be measured.
  const isTooLong = text.length * 3 > bytes && Buffer.byteLength(text) > bytes
  return [
    ...(isTooLong ? [{ path: 'metadata', message: `must have at most ${bytes} bytes` }] : []),
    ...(Object.keys(metadata).length > maxMetadataKeys
      ? [{ path: 'metadata', message: `must have at most ${maxMetadataKeys} keys` }]
      : []),
  ]
}

export const timeIssues = (startedAt: Date, endedAt: Date | null): Issue[] =>
  endedAt && endedAt < startedAt ? [{ path: 'endedAt', message: 'must not be before startedAt' }] : []

export const recordingUrlIssue = (url: string | null | undefined): Issue[] =>
  url && !URL.canParse(url) ? [{ path: 'recordingUrl', message: 'must be an http or https URL' }] : []

const referenceIssues = (agent: AgentReference | undefined, versions: VersionReference[]): Issue[] => [
  ...(agent ? [] : [{ path: 'agentId', message: 'or agentExternalId or agent is required, but only one of them' }]),
  ...(versions.length > 1
    ? [{ path: 'agentVersionId', message: 'cannot be combined with agentVersionLabel or systemPrompt' }]
    : []),
]

const aheadIssues = (startedAt: Date, now: Date): Issue[] =>
  startedAt.getTime() > now.getTime() + aheadMs
    ? [{ path: 'startedAt', message: 'must not be more than 5 minutes in the future' }]
    : []

/** Validates a request beyond its schema. Returns an incoming conversation, or an error that lists all issues. */
export const readBody = (body: Body, { now, metadataBytes }: Bounds): Incoming | ApiError => {
  const startedAt = new Date(body.startedAt)
  const endedAt = body.endedAt ? new Date(body.endedAt) : null
  const metadata = body.metadata ?? {}
  const agent = agentOf(body)
  const versions = versionsOf(body)
  const issues: Issue[] = [
    ...referenceIssues(agent, versions),
    ...aheadIssues(startedAt, now),
    ...timeIssues(startedAt, endedAt),
    ...metadataIssues(metadata, metadataBytes),
    ...recordingUrlIssue(body.recordingUrl),
  ]
  if (!agent || issues.length > 0) return invalidAll(issues)
  return {
    externalId: body.externalId ?? null,
    agent,
    version: versions[0] ?? null,
    companyId: body.companyId ?? null,
    channel: body.channel,
    direction: body.direction ?? null,
    status: body.status ?? null,
    startedAt,
    endedAt,
    durationSeconds: body.durationSeconds ?? null,
    endReason: body.endReason ?? null,
    customerId: body.customerId ?? null,
    metadata,
    transcript: body.transcript ?? null,
    recordingUrl: body.recordingUrl ?? null,
    metrics: body.metrics ?? [],
  }
}
