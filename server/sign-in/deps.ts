import type { Deps } from '../platform/deps.ts'
import type { Attempts } from './attempts/attempts.ts'

/** Recent attempts limit signing in. */
export type SignInDeps = Deps & { attempts: Attempts }
