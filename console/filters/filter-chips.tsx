// Shows a filter as chips. Each is a phrase that people add by typing, edit in place, exclude, and remove. Lists,
// buckets, scopes, backfills, and alert rules use this component.

import { useQuery } from '@tanstack/react-query'
import { Ban, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { useSounds } from '../conversations/use-sounds.ts'
import { ownZone } from '../lib/zones.ts'
import { announce } from '../ui/announce.tsx'
import { useKeys } from '../ui/keys.tsx'
import {
  type Conditions,
  canExclude,
  conditionsOf,
  filterOf,
  type Kind,
  withCondition,
  without as withoutCondition,
} from './conditions.ts'
import type { FieldName, Filter } from './filter.ts'
import styles from './filter-chips.module.css'
import { Phrase } from './phrase.tsx'
import { type Part, sayPart, splitPart, typedValue, type Vocabulary } from './say-phrase.ts'
import type { Known } from './suggest-phrases.ts'

const useOutputs = (isEnabled: boolean): Pick<Vocabulary, 'categories' | 'fields' | 'topics'> => {
  const { data = { categories: [], fields: [], topics: [] } } = useQuery({
    queryKey: ['monitors', 'outputs'],
    queryFn: async () => (await import('./monitor-outputs.ts')).loadOutputs(),
    enabled: isEnabled,
    staleTime: 60_000,
  })
  return data
}

/** Categories, fields, topics, and measures of sound only have labels once something needs them. */
const useVocabulary = (isNeeded: boolean): Vocabulary => ({
  agents: useNames('agents').options,
  agentGroups: useNames('agentGroups').options,
  companies: useNames('companies').options,
  buckets: useNames('buckets').options,
  monitors: useNames('monitors').options,
  ...useOutputs(isNeeded),
  sounds: useSounds(isNeeded),
  timezone: ownZone(),
})

/** Returns a function that describes a filter in the phrases of its chips. */
export const useFilterText = () => {
  // Labels of categories and measures are shown if they are loaded.
  const words = useVocabulary(false)
  return (filter: Filter): string => {
    const { all, or, not } = conditionsOf(filter)
    const say = (part: Part) => ('anyOf' in part ? 'several conditions' : sayPart(part, words))
    return [
      ...all.map(say),
      ...(or.length > 0 ? [`either ${or.map(say).join(' or ')}`] : []),
      ...not.map((part) => `not ${say(part)}`),
    ].join(', ')
  }
}

type Counted = { count: number }

const countedOf = <T extends Counted>(rows: T[] | undefined, textOf: (row: T) => string) =>
  (rows ?? []).map((row) => ({ text: textOf(row), count: row.count }))

/** Returns tags, metadata keys, and the values of the key that is being typed. */
const useKnown = (typed: string, isEnabled: boolean): Known => {
  const value = typedValue(typed)
  const keys = useQuery({
    queryKey: ['metadata-keys'],
    queryFn: ({ signal }) => answer(api.GET('/v1/metadata-keys', { signal })),
    enabled: isEnabled,
    staleTime: 60_000,
  })
  const isKey = keys.data?.data.some(({ key }) => key === value?.key) === true
  const values = useQuery({
    queryKey: ['metadata-keys', value?.key, value?.start],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/v1/metadata-keys/{key}/values', {
          params: { path: { key: value?.key ?? '' }, query: { prefix: value?.start ?? '' } },
          signal,
        }),
      ),
    enabled: isEnabled && isKey,
    staleTime: 60_000,
  })
  const tags = useQuery({
    queryKey: ['conversation-tags', ''],
    queryFn: async ({ signal }) => (await answer(api.GET('/v1/conversation-tags', { signal }))).data,
    enabled: isEnabled,
    staleTime: 60_000,
  })
  return {
    tags: countedOf(tags.data, ({ tag }) => tag),
    keys: countedOf(keys.data?.data, ({ key }) => key),
    values: countedOf(isKey ? values.data?.data : undefined, (row) => row.value),
  }
}

type At = { kind: Kind; at: number }

const prefixes: Record<Kind, string> = { all: '', not: 'not ', or: 'or ' }

type ChipProps = {
  text: string
  kind: Kind
  isEditable: boolean
  onEdit: () => void
  onExclude: (() => void) | undefined
  onRemove: () => void
}

const Chip = ({ text, kind, isEditable, onEdit, onExclude, onRemove }: ChipProps) => {
  const words = kind === 'not' ? `not ${text}` : text
  return (
    <li className={kind === 'not' ? `${styles.chip} ${styles.not}` : styles.chip}>
      {isEditable ? (
        <button type="button" className={styles.text} aria-label={`Edit ${words}`} onClick={onEdit}>
          {words}
        </button>
      ) : (
        <span className={styles.text}>{words}</span>
      )}
      {onExclude && (
        <button
          type="button"
          className={styles.act}
          aria-label={kind === 'not' ? `Include ${text}` : `Exclude ${text}`}
          title={kind === 'not' ? 'Include' : 'Exclude'}
          onClick={onExclude}
        >
          <Ban aria-hidden="true" />
        </button>
      )}
      <button type="button" className={styles.act} aria-label={`Remove ${words}`} title="Remove" onClick={onRemove}>
        <X aria-hidden="true" />
      </button>
    </li>
  )
}

type FilterChipsProps = {
  filter: Filter
  onChange: (filter: Filter) => void
  /** Fields that this filter can't have. */
  without?: FieldName[]
  /** Whether `f` moves the focus here. */
  hasKey?: boolean
}

/** Reads `not` and `or` before a phrase. */
const readKind = (typed: string): { kind: Kind; phrase: string } => {
  const [, word, phrase] = /^(not|or)\s+(.*)$/i.exec(typed) ?? []
  // These phrases are about results of monitors.
  if (word === undefined || /^(affected|in review)/i.test(phrase ?? '')) return { kind: 'all', phrase: typed }
  return { kind: word.toLowerCase() as Kind, phrase: phrase ?? '' }
}

export const FilterChips = ({ filter, onChange, without = [], hasKey = false }: FilterChipsProps) => {
  const [typed, setTyped] = useState('')
  const [isActive, setActive] = useState(false)
  const [editing, setEditing] = useState<At>()
  const words = useVocabulary(isActive || Object.keys(filter).length > 0)
  const input = useRef<HTMLInputElement>(null)
  const { kind, phrase } = readKind(typed)
  const known = useKnown(phrase, (isActive || editing !== undefined) && !without.includes('metadata'))
  const conditions = conditionsOf(filter)
  const mayNest = { not: !without.includes('exclude'), or: !without.includes('anyOf') }
  useKeys(hasKey ? { f: { does: 'Add filter', run: () => input.current?.focus() } } : {})
  // Focus returns to the field after a chip was edited or removed.
  const returnFocus = () => input.current?.focus()
  useEffect(() => {
    if (editing === undefined && !isActive) setTyped('')
  }, [editing, isActive])
  const change = (next: Conditions) => onChange(filterOf(next))
  const add = (part: Part) => {
    setTyped((now) => (now === typed ? '' : now))
    if (kind !== 'all' && !mayNest[kind]) return announce('This filter can’t exclude conditions or have alternatives')
    if (kind === 'not' && !canExclude(conditions)) return announce('This exclusion can’t have another condition')
    change(withCondition(conditions, kind, part))
  }
  const replace = ({ kind: which, at }: At, part: Part) => {
    setEditing(undefined)
    change({ ...conditions, [which]: conditions[which].with(at, part) })
    returnFocus()
  }
  const exclude = ({ kind: which, at }: At, part: Part) => {
    const rest = withoutCondition(conditions, which, at)
    change(withCondition(rest, which === 'not' ? 'all' : 'not', part))
  }
  const chip = (which: Kind, part: Part, at: number) => {
    const place = { kind: which, at }
    const text = sayPart(part, words)
    const isSingle = splitPart(part).length === 1 && !('anyOf' in part)
    if (editing?.kind === which && editing.at === at) {
      return (
        <li key={`${which} ${at}`}>
          <Phrase
            label={`Edit filter ${text}`}
            typed={typed}
            onType={setTyped}
            phrase={typed}
            prefix=""
            words={words}
            known={known}
            without={without}
            isFocused
            onChoose={(next) => replace(place, next)}
            onLeave={() => setEditing(undefined)}
          />
        </li>
      )
    }
    return (
      <Chip
        key={`${which} ${at}`}
        text={'anyOf' in part ? 'several conditions' : text}
        kind={which}
        isEditable={isSingle}
        onEdit={() => {
          setTyped(text)
          setEditing(place)
        }}
        onExclude={
          which !== 'or' && isSingle && mayNest.not && (which === 'not' || canExclude(conditions))
            ? () => exclude(place, part)
            : undefined
        }
        onRemove={() => {
          change(withoutCondition(conditions, which, at))
          returnFocus()
        }}
      />
    )
  }
  return (
    <div className={styles.chips}>
      <ul className={styles.list} aria-label="Filters">
        {conditions.all.map((part, at) => chip('all', part, at))}
        {conditions.or.map((part, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: alternatives have no other key than their positions
          <li key={at} className={styles.group}>
            <span className={styles.or}>{at === 0 ? 'either' : 'or'}</span>
            <ul className={styles.list}>{chip('or', part, at)}</ul>
          </li>
        ))}
        {conditions.not.map((part, at) => chip('not', part, at))}
      </ul>
      <Phrase
        ref={input}
        label="Add filter"
        placeholder="Filter by agent, duration > 2 min, not …, or …"
        typed={editing ? '' : typed}
        onType={setTyped}
        phrase={phrase}
        prefix={prefixes[kind]}
        words={words}
        known={known}
        without={without}
        onFocus={() => setActive(true)}
        onChoose={add}
        onLeave={() => setActive(false)}
        onRemoveLast={() => {
          const which = (['not', 'or', 'all'] as const).find((each) => conditions[each].length > 0)
          if (which) change(withoutCondition(conditions, which, conditions[which].length - 1))
        }}
      />
    </div>
  )
}
