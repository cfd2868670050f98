import type { Deps } from '../platform/deps.ts'
import type { Attempts } from './attempts/attempts.ts'

/** The dependencies of signing in, which recent attempts limit. */
export type SignInDeps = Deps & { attempts: Attempts }
