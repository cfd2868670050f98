import { useMutation } from '@tanstack/react-query'
import { ListFilter, Search } from 'lucide-react'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { listOptions, queryClient, useList } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Field, Input, Select } from '../ui/controls.tsx'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { useKeys } from '../ui/keys.tsx'
import { lazy } from '../ui/lazy.tsx'
import { FaultNote } from '../ui/states.tsx'
import { useCount } from './count.ts'
import type { Filter } from './filter.ts'
import styles from './filter-bar.module.css'

const FilterFields = lazy(async () => (await import('./filter-fields.tsx')).FilterFields)

/** Describes a filter in words, with the number of conversations. */
export const FilterWords = ({ filter }: { filter: Filter }) => {
  const { data, error } = useCount(filter)
  if (error && !data) return <FaultNote error={error} />
  return (
    <p className={styles.words} aria-live="polite">
      {data ? (
        <>
          <strong>{plural(data.count, 'conversation')}</strong>{' '}
          {Object.keys(filter).length > 0 && <span>{data.explanation}</span>}
        </>
      ) : (
        'Counting…'
      )}
    </p>
  )
}

const viewsOptions = listOptions(['saved-views'], (cursor) =>
  answer(api.GET('/v1/saved-views', { params: { query: { limit: 200, ...cursor } } })),
)

type View = Schemas['SavedView']

const SaveView = ({
  filter,
  onSaved,
  onClose,
}: {
  filter: Filter
  onSaved: (view: View) => void
  onClose: () => void
}) => {
  const [name, setName] = useState('')
  const save = useMutation({
    mutationFn: () => answer(api.POST('/v1/saved-views', { body: { name: name.trim(), filter } })),
    onSuccess: async (view) => {
      await queryClient.invalidateQueries({ queryKey: ['saved-views'] })
      announce(`View “${view.name}” saved`)
      onSaved(view)
    },
  })
  return (
    <Dialog title="Save view" open onClose={onClose}>
      <form
        className={styles.save}
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <Field label="Name" hint="Visible to everyone in your organization.">
          {(ids) => (
            <Input {...ids} value={name} maxLength={255} required onChange={({ target }) => setName(target.value)} />
          )}
        </Field>
        {save.error && <FaultNote error={save.error} />}
        <div>
          <Button type="submit" look="primary" busy={save.isPending} disabled={name.trim() === ''}>
            Save view
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

type FilterBarProps = {
  filter: Filter
  view: string | undefined
  onChange: (filter: Filter, view?: string) => void
}

/** Shows the filter of a list: in words, as fields, and as saved views. */
export const FilterBar = ({ filter, view, onChange }: FilterBarProps) => {
  const [open, setOpen] = useState(false)
  const [saving, setSaving] = useState(false)
  const [deleting, setDeleting] = useState(false)
  const [text, setText] = useState<string>()
  const mayWrite = useMay('member')
  const { rows: views = [] } = useList(viewsOptions)
  const chosen = views.find(({ id }) => id === view)
  const changed = chosen !== undefined && JSON.stringify(chosen.filter) !== JSON.stringify(filter)
  const update = useMutation({
    mutationFn: (id: string) =>
      answer(api.PATCH('/v1/saved-views/{id}', { params: { path: { id } }, body: { filter } })),
    onSuccess: async ({ name }) => {
      await queryClient.invalidateQueries({ queryKey: ['saved-views'] })
      announce(`View “${name}” updated`)
    },
  })
  const isEmpty = Object.keys(filter).length === 0
  useKeys({ f: { does: 'Show or hide filters', run: () => setOpen(!open) } })
  return (
    <div className={styles.bar}>
      <div className={styles.line}>
        <search>
          <form
            className={styles.search}
            onSubmit={(event) => {
              event.preventDefault()
              const { text: _, ...rest } = filter
              const said = (text ?? filter.text ?? '').trim()
              setText(undefined)
              onChange(said === '' ? rest : { ...rest, text: said }, view)
            }}
          >
            <Search aria-hidden="true" />
            <input
              type="search"
              aria-label="Search transcripts"
              placeholder="Search transcripts…"
              maxLength={500}
              value={text ?? filter.text ?? ''}
              onChange={({ target }) => setText(target.value)}
            />
          </form>
        </search>
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          <ListFilter aria-hidden="true" /> Filter
        </Button>
        {views.length > 0 && (
          <div className={styles.views}>
            <Select
              aria-label="Saved view"
              value={view ?? ''}
              options={[
                { value: '', label: 'Saved views' },
                ...views.map(({ id, name }) => ({ value: id, label: name })),
              ]}
              onChange={({ target }) => {
                const next = views.find(({ id }) => id === target.value)
                onChange(next?.filter ?? {}, next?.id)
              }}
            />
          </div>
        )}
        {!isEmpty && (chosen === undefined || changed) && mayWrite && (
          <Button look="quiet" onClick={() => setSaving(true)}>
            {changed ? 'Save as new view' : 'Save view'}
          </Button>
        )}
        {chosen && changed && mayWrite && (
          <Button look="quiet" busy={update.isPending} onClick={() => update.mutate(chosen.id)}>
            Update view
          </Button>
        )}
        {chosen && !changed && mayWrite && (
          <Button look="quiet" onClick={() => setDeleting(true)}>
            Delete view
          </Button>
        )}
        {!isEmpty && (
          <Button look="quiet" onClick={() => onChange({})}>
            Clear
          </Button>
        )}
      </div>
      {open && (
        <section className={styles.panel} aria-label="Filter">
          <FilterFields filter={filter} onChange={(next) => onChange(next, view)} />
        </section>
      )}
      {update.error && <FaultNote error={update.error} />}
      <FilterWords filter={filter} />
      {saving && (
        <SaveView
          filter={filter}
          onClose={() => setSaving(false)}
          onSaved={({ id }) => {
            setSaving(false)
            onChange(filter, id)
          }}
        />
      )}
      {chosen && (
        <Confirm
          title={`Delete view “${chosen.name}”?`}
          action="Delete view"
          open={deleting}
          onClose={() => setDeleting(false)}
          run={async () => {
            await api.DELETE('/v1/saved-views/{id}', { params: { path: { id: chosen.id } } })
            await queryClient.invalidateQueries({ queryKey: ['saved-views'] })
            onChange(filter)
          }}
        >
          This deletes the view for everyone in your organization. Conversations are kept.
        </Confirm>
      )}
    </div>
  )
}
