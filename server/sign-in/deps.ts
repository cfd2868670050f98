import type { Deps } from '../platform/deps.ts'
import type { Attempts } from './attempts/attempts.ts'

/** The dependencies for signing in, which include the limit on attempts. */
export type SignInDeps = Deps & { attempts: Attempts }
