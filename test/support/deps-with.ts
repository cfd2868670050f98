import type { ServiceDeps } from '../../server/deps.ts'
import { openReactions } from '../../server/reactions.ts'

/** Returns the dependencies with some of them replaced. Reactions use the replacements, too. */
export const depsWith = (deps: ServiceDeps, changes: Partial<ServiceDeps>): ServiceDeps => {
  const changed: ServiceDeps = { ...deps, ...changes, reactions: openReactions(() => changed) }
  return changed
}
