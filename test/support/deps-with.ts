import type { ServiceDeps } from '../../server/deps.ts'
import { openReactions } from '../../server/reactions.ts'

/** The same with something else in its place, also for those who follow what happens. */
export const depsWith = (deps: ServiceDeps, changes: Partial<ServiceDeps>): ServiceDeps => {
  const changed: ServiceDeps = { ...deps, ...changes, reactions: openReactions(() => changed) }
  return changed
}
