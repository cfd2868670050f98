import { normalizeTags } from '../../filters/tag.ts'
import type { StoredAction } from '../queries.ts'
import type { Action, ActionOf } from '../schema.ts'
import { addToBucket } from './add-to-bucket.ts'
import { assignReviewer } from './assign-reviewer.ts'
import { attachToFinding } from './attach-to-finding.ts'
import { erase } from './erase.ts'
import type { ActionKind } from './kind.ts'
import { tag } from './tag.ts'

const kinds: { [Kind in Action['kind']]: ActionKind<ActionOf<Kind>> } = {
  tag,
  add_to_bucket: addToBucket,
  attach_to_finding: attachToFinding,
  assign_reviewer: assignReviewer,
  erase,
}

/** Returns the behavior for an action's kind. Callers must only pass actions of this kind to it. */
export const kindOf = ({ kind }: Pick<Action, 'kind'>): ActionKind<Action> => kinds[kind] as ActionKind<Action>

/** Returns an action in its stored form, with lowercase IDs and normalized tags. */
export const parseAction = (action: Action): Action => {
  switch (action.kind) {
    case 'tag':
      return { kind: 'tag', add: normalizeTags(action.add ?? []), remove: normalizeTags(action.remove ?? []) }
    case 'add_to_bucket':
      return { ...action, bucketId: action.bucketId.toLowerCase() }
    case 'attach_to_finding':
      return { ...action, findingId: action.findingId.toLowerCase() }
    case 'assign_reviewer':
      return { ...action, userId: action.userId.toLowerCase() }
    case 'erase':
      return action
  }
}

/** Reads a stored action, which was created by `parseAction`. */
export const actionOf = ({ action }: Pick<StoredAction, 'action'>): Action => action as unknown as Action
