import type { Deps } from '../platform/deps.ts'
import type { Attempts } from './attempts/attempts.ts'

/** Signing in is limited by the attempts of late. */
export type SignInDeps = Deps & { attempts: Attempts }
