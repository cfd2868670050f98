import type { Judge } from '../monitors/judges/judge.ts'
import type { Rules } from '../monitors/rules/rules.ts'
import type { Deps } from '../platform/deps.ts'

/** What evaluates conversations has judges and rules at hand. */
export type EvaluationDeps = Deps & { judge: Judge; rules: Rules }
