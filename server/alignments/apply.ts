import { lockNamed } from '../monitors/create.ts'
import type { MonitorDefinition } from '../monitors/definition.ts'
import { lockMonitor, updateMonitor } from '../monitors/queries.ts'
import { overrideNote } from '../monitors/require-gain.ts'
import { nextVersion } from '../monitors/versions.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db } from '../platform/db/database.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { getAlignment, listProposals, type Proposal, type ProposalKind, updateProposal } from './queries.ts'
import type { Measured } from './report.ts'

const isShown = ({ measured }: Proposal): boolean => (measured as Measured | null)?.isShown === true

type Application = {
  monitorId: string
  alignmentId: string
  kind: ProposalKind
  overrideReason: string | undefined
}

/** Makes a proposal's definition the next version of the monitor. */
export const applyProposal = async (
  trx: Db,
  actor: Actor,
  { monitorId, alignmentId, kind, overrideReason }: Application,
) => {
  const { org } = actor
  const monitor = await lockMonitor(trx, org, monitorId)
  const alignment = await getAlignment(trx, org, monitor.id, alignmentId)
  const proposals = await listProposals(trx, org, alignment.id)
  const proposal = proposals.find((one) => one.kind === kind)
  if (!proposal) throw notFound()
  if (alignment.status !== 'completed') {
    throw new ApiError('conflict', `The alignment is ${alignment.status}. Wait until it is completed.`)
  }
  if (proposal.definition === null) {
    const removed =
      'A review that this proposal was learned from was removed, and so was the proposal. Start another alignment.'
    throw new ApiError('conflict', proposal.isRemoved ? removed : `There is nothing to apply: ${proposal.reason}`)
  }
  if (monitor.number !== alignment.monitorVersion) {
    throw new ApiError(
      'conflict',
      `The monitor has changed: its version is ${monitor.number}, and the alignment is about version ` +
        `${alignment.monitorVersion}. Start another alignment.`,
    )
  }
  const isGated = monitor.requireGain && !isShown(proposal)
  if (isGated && overrideReason === undefined) {
    throw new ApiError(
      'conflict',
      'This monitor requires a proven gain, and this proposal has none. Review more conversations, or have an admin ' +
        'give an overrideReason.',
    )
  }
  const note = isGated ? overrideNote(actor, overrideReason ?? '') : `Applied an alignment: ${kind}.`
  // Definitions were validated when they were proposed.
  const definition = proposal.definition as MonitorDefinition
  await lockNamed(trx, org, monitor.kind, definition)
  const number = await nextVersion(trx, org, monitor, definition, note)
  if (number !== undefined) {
    await updateMonitor(trx, org, monitor.id, { currentVersion: number })
    await updateProposal(trx, org, { alignmentId: alignment.id, kind }, { appliedVersion: number })
  }
  const action = isGated ? 'alignment.override-gain' : 'alignment.apply'
  await recordAudit(trx, actor, action, { type: 'alignment', id: alignment.id }, { type: 'monitor', id: monitor.id })
  return alignment
}
