import type { Judge } from '../monitors/judges/judge.ts'
import type { StoredMonitor } from '../monitors/queries.ts'
import type { Rules } from '../monitors/rules/rules.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'

/** The versions of monitors that running experiments have conversations asked, whatever became of the monitors. */
export type Pinned = {
  monitors: StoredMonitor[]
  asks: (conversationId: string, monitor: Pick<StoredMonitor, 'id' | 'number'>) => boolean
}

type FindPinned = (db: Db, org: OrgId, conversationIds: string[]) => Promise<Pinned>

/** What evaluates conversations has judges and rules at hand, and asks experiments what they pinned. */
export type EvaluationDeps = Deps & { judge: Judge; rules: Rules; findPinned: FindPinned }
