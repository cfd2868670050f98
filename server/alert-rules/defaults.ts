import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { newId } from '../platform/ids.ts'
import { insertRules, type RuleFields } from './queries.ts'
import { defaults } from './settings.ts'

/** The rules that every organization starts with. Members can change, disable, or delete them like any other rule. */
const defaultRules: RuleFields[] = [
  {
    ...defaults,
    name: 'No conversations arrive',
    severity: 'critical',
    condition: { kind: 'no_data', forMinutes: 1_440 },
  },
  {
    ...defaults,
    name: 'Evaluations fail',
    severity: 'critical',
    condition: { kind: 'failures', source: 'judges', threshold: 5 },
  },
  { ...defaults, name: 'A monitor spikes', severity: 'warning', condition: { kind: 'spike' } },
]

export const createDefaultRules = async ({ clock }: Pick<Deps, 'clock'>, trx: Db, org: OrgId): Promise<void> => {
  const now = clock.now()
  const rules = defaultRules.map((rule) => ({ ...rule, id: newId(), createdByUserId: null, now }))
  await insertRules(trx, org, rules)
}
