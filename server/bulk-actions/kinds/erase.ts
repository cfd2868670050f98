import { eraseConversations } from '../../conversations/erasure/erase.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { ActionOf } from '../schema.ts'
import { type ActionKind, listOutcomes } from './kind.ts'

export const erase: ActionKind<ActionOf<'erase'>> = {
  role: 'admin',
  targets: () => [],
  check: async () => {},
  apply: async (deps, trx, org, { ids, creator }) => {
    const erased = await eraseConversations(deps, trx, org, ids)
    if (erased.length > 0) {
      await recordAudit(trx, creator, 'conversation.erase', ...erased.map((id) => ({ type: 'conversation', id })))
    }
    return listOutcomes({ changed: erased })
  },
}
