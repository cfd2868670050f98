// Shows saved views as tabs: a filter, columns, and a sort under a name, shared or personal.

import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Lock, Star } from 'lucide-react'
import { useEffect, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { listOptions, queryClient, useList } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { FaultNote } from '../ui/states.tsx'
import type { ConversationsSearch, ListState } from './search.ts'
import styles from './views.module.css'

const SaveView = lazy(async () => (await import('./save-view.tsx')).SaveView)
const ViewActions = lazy(async () => (await import('./view-actions.tsx')).ViewActions)

export type View = Schemas['SavedView']

/** The tab without a saved view. Its address also prevents the default view from opening. */
const allTab = 'all'

const viewsOptions = listOptions(['saved-views'], (cursor) =>
  answer(api.GET('/v1/saved-views', { params: { query: { limit: 200, ...cursor } } })),
)

export const refreshViews = () => queryClient.invalidateQueries({ queryKey: ['saved-views'] })

export const stateOf = ({ filter, columns, sort }: View): ListState => ({
  ...(Object.keys(filter).length > 0 && { filter }),
  ...(columns && { columns }),
  ...(sort && { sort: { by: sort.by, direction: sort.direction ?? 'desc' } }),
})

/** Returns the body of a request that stores the state of the list. */
export const bodyOf = ({ filter = {}, columns, sort }: ListState) => ({
  filter,
  columns: columns ?? null,
  sort: sort ?? null,
})

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Returns JSON with the keys of objects in a fixed order, because typed and stored filters have different orders. */
const spell = (state: ListState): string =>
  JSON.stringify(bodyOf(state), (_, value: unknown) =>
    isObject(value) && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )

const isSame = (a: ListState, b: ListState): boolean => spell(a) === spell(b)

const searchOf = (view: View): ConversationsSearch => ({ view: view.id, ...stateOf(view) })

/** Sorts views by name, with shared views first. */
const inOrder = (views: View[]): View[] =>
  views.toSorted((a, b) => Number(b.shared) - Number(a.shared) || a.name.localeCompare(b.name))

/** Opens the default view if the address doesn't select anything. */
const useDefaultView = (views: View[] | undefined, isPlain: boolean): void => {
  const navigate = useNavigate({ from: '/conversations' })
  const view = isPlain ? views?.find(({ isDefault }) => isDefault) : undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view is another object with each loading
  useEffect(() => {
    if (view) void navigate({ search: searchOf(view), replace: true })
  }, [view?.id])
}

/** Shows the tabs of saved views, and the actions on the open one. */
export const Views = ({ state, view }: { state: ListState; view: string | undefined }) => {
  const navigate = useNavigate({ from: '/conversations' })
  const [saving, setSaving] = useState(false)
  const mayWrite = useMay('member')
  const { rows: views } = useList(viewsOptions)
  const isEmpty = isSame(state, {})
  useDefaultView(views, view === undefined && isEmpty)
  const chosen = views?.find(({ id }) => id === view)
  const isChanged = chosen ? !isSame(stateOf(chosen), state) : !isEmpty
  const update = useMutation({
    mutationFn: ({ id }: View) =>
      answer(api.PATCH('/v1/saved-views/{id}', { params: { path: { id } }, body: bodyOf(state) })),
    onSuccess: async ({ name }) => {
      await refreshViews()
      announce(`View “${name}” updated`)
    },
  })
  return (
    <div className={styles.views}>
      <nav className={styles.tabs} aria-label="Saved views">
        <Link
          to="/conversations"
          search={{ view: allTab }}
          className={styles.tab}
          aria-current={chosen ? undefined : 'page'}
        >
          All conversations
        </Link>
        {inOrder(views ?? []).map((each) => (
          <Link
            key={each.id}
            to="/conversations"
            search={searchOf(each)}
            className={styles.tab}
            aria-current={each.id === view ? 'page' : undefined}
          >
            {!each.shared && <Lock role="img" aria-label="Personal" />}
            {each.name}
            {each.isDefault && <Star role="img" aria-label="Default" />}
          </Link>
        ))}
      </nav>
      {mayWrite && (
        <div className={styles.ways}>
          {chosen && isChanged && (
            <Button small look="quiet" busy={update.isPending} onClick={() => update.mutate(chosen)}>
              Update view
            </Button>
          )}
          {isChanged && (
            <Button small look="quiet" onClick={() => setSaving(true)}>
              {chosen ? 'Save as new view' : 'Save view'}
            </Button>
          )}
          {chosen && (
            <ViewActions view={chosen} onDeleted={() => void navigate({ search: { ...state, view: allTab } })} />
          )}
        </div>
      )}
      {update.error && <FaultNote error={update.error} />}
      {saving && (
        <SaveView
          state={state}
          onClose={() => setSaving(false)}
          onSaved={(saved) => {
            setSaving(false)
            void navigate({ search: searchOf(saved), replace: true })
          }}
        />
      )}
    </div>
  )
}
