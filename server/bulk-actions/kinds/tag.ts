import { changeTags, type TagChange } from '../../conversations/tags/change-tags.ts'
import { mostTags } from '../../conversations/tags/limits.ts'
import { invalid } from '../../platform/errors.ts'
import type { ActionOf } from '../schema.ts'
import type { ActionKind, Outcome } from './kind.ts'

const outcomeOf = (change: TagChange): Outcome => {
  const { conversationId } = change
  if ('isFull' in change) return { conversationId, outcome: 'failed' }
  const tags = [...change.added, ...change.removed]
  return tags.length > 0 ? { conversationId, outcome: 'changed', tags } : { conversationId, outcome: 'unchanged' }
}

const withTags = (present: string[], { add, remove }: { add: string[]; remove: string[] }): string[] => [
  ...new Set([...present.filter((tag) => !remove.includes(tag)), ...add]),
]

export const tag: ActionKind<ActionOf<'tag'>> = {
  role: 'member',
  targets: () => [],
  check: async (_db, _org, { add = [], remove = [] }) => {
    if (add.length === 0 && remove.length === 0) throw invalid('action.add', 'or action.remove is required')
    if (add.some((each) => remove.includes(each))) throw invalid('action.remove', 'must not contain tags of action.add')
  },
  apply: async (deps, trx, org, { ids, action: { add = [], remove = [] } }) => {
    const changes = await changeTags(deps, trx, org, ids, (present) => withTags(present, { add, remove }))
    return changes.map(outcomeOf)
  },
  undo: async (deps, trx, org, { ids, rows, action: { add = [] } }) => {
    const changed = new Map(rows.map(({ conversationId, tags }) => [conversationId, tags ?? []]))
    const changes = await changeTags(deps, trx, org, ids, (present, id) => {
      const tags = changed.get(id) ?? []
      const wereAdded = tags.filter((each) => add.includes(each))
      return withTags(present, { add: tags.filter((each) => !wereAdded.includes(each)), remove: wereAdded })
    })
    return changes.map(outcomeOf)
  },
  reason: `Some conversations would have more than ${mostTags} tags.`,
}
