import { invalid } from '../platform/errors.ts'
import { kinds, type NotificationKind } from './preferences.ts'

/** Parses the kinds of notifications in a filter. */
export const parseKinds = (list: string | undefined): NotificationKind[] | undefined => {
  if (list === undefined) return undefined
  return [...new Set(list.split(','))].map((name) => {
    const kind = kinds.find((each) => each === name)
    if (kind === undefined) throw invalid('kinds', `must be a list of ${kinds.join(', ')}`)
    return kind
  })
}
