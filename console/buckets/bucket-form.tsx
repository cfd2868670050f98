import { useRef, useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import type { Filter } from '../filters/filter.ts'
import { FilterWords } from '../filters/filter-bar.tsx'
import { FilterChips } from '../filters/filter-chips.tsx'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Chooser } from '../ui/chooser.tsx'
import { Choice, Row } from '../ui/controls.tsx'
import { CheckField, Form, SelectField, TextField } from '../ui/form.tsx'
import { LeaveGuard } from '../ui/leave-guard.tsx'
import styles from './bucket-form.module.css'
import type { Bucket } from './queries.ts'

type Type = Bucket['type']
type Size = 'share' | 'perWeek'

const types: { value: Type; label: string }[] = [
  { value: 'static', label: 'Manual' },
  { value: 'dynamic', label: 'Filter' },
  { value: 'sampled', label: 'Random sample' },
]

const teaching: Record<Type, string> = {
  static: 'You add conversations, one at a time or with a filter.',
  dynamic: 'Adds every new conversation that matches the filter. You can also add conversations by hand.',
  sampled:
    'Adds a random sample of new conversations that match the filter. Because the sample is representative, its reviews can correct monitor rates.',
}

type Values = {
  name: string
  share: string
  perWeek: string
  reviewsPerConversation: string
  blind: boolean
  noteOnDisagreement: boolean
}

const valuesOf = (bucket: Bucket | undefined): Values => ({
  name: bucket?.name ?? '',
  share: String(bucket?.share ?? 5),
  perWeek: String(bucket?.perWeek ?? 50),
  reviewsPerConversation: String(bucket?.reviewsPerConversation ?? 1),
  blind: bucket?.blind ?? false,
  noteOnDisagreement: bucket?.noteOnDisagreement ?? false,
})

/** Returns the input unchanged if it isn't a number, so that the API's error explains the problem. */
const numberOf = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text.replace(',', '.')))

const perConversation = ['One', 'Two', 'Three', 'Four', 'Five'].map((word, at) => ({
  value: String(at + 1),
  label: at === 0 ? 'One reviewer' : `${word} reviewers`,
}))

type BucketFormProps = { bucket?: Bucket; onDone: (bucket: Bucket) => void; onCancel: () => void }

/** Creates a bucket, or edits the given one. */
export const BucketForm = ({ bucket, onDone, onCancel }: BucketFormProps) => {
  const form = useForm<Values>({ defaultValues: valuesOf(bucket) })
  const [type, setType] = useState<Type>(bucket?.type ?? 'static')
  const [size, setSize] = useState<Size>(bucket?.perWeek ? 'perWeek' : 'share')
  const [filters, setFilters] = useState<Filter>(bucket?.filters ?? {})
  const [reviewerUserIds, setReviewers] = useState(bucket?.reviewerUserIds ?? [])
  const [monitorIds, setMonitors] = useState(bucket?.monitorIds ?? [])
  const isDone = useRef(false)
  const chosen = JSON.stringify([type, size, filters, reviewerUserIds, monitorIds])
  const [chosenFirst] = useState(chosen)
  const isDirty = form.formState.isDirty || chosen !== chosenFirst
  const people = useNames('members')
  const monitors = useNames('monitors')
  const send = async ({ name, share, perWeek, reviewsPerConversation, ...checks }: Values) => {
    const body = {
      name,
      reviewerUserIds,
      monitorIds,
      ...checks,
      reviewsPerConversation: Number(reviewsPerConversation),
      ...(type !== 'static' && { filters }),
      ...(type === 'sampled' && {
        share: size === 'share' ? numberOf(share) : null,
        perWeek: size === 'perWeek' ? numberOf(perWeek) : null,
      }),
    }
    const saved = await answer(
      bucket
        ? api.PATCH('/v1/buckets/{id}', { params: { path: { id: bucket.id } }, body })
        : api.POST('/v1/buckets', { body: { ...body, type } }),
    )
    isDone.current = true
    await queryClient.invalidateQueries({ queryKey: ['buckets'] })
    announce(bucket ? 'Bucket updated' : 'Bucket created', saved.name)
    onDone(saved)
  }
  return (
    <Form
      form={form}
      send={send}
      submit={bucket ? 'Save changes' : 'Create bucket'}
      beside={<Button onClick={onCancel}>Cancel</Button>}
    >
      <LeaveGuard isDirty={() => isDirty && !isDone.current} />
      <TextField name="name" label="Name" required maxLength={255} />
      {!bucket && (
        <div>
          <Choice
            label="Type"
            value={type}
            options={types}
            onChange={(value) => setType(types.find((one) => one.value === value)?.value ?? 'static')}
          />
          <p className={styles.hint}>{teaching[type]}</p>
        </div>
      )}
      {type === 'sampled' && (
        <Row>
          <Choice
            label="Sample size"
            value={size}
            options={[
              { value: 'share', label: 'Percentage' },
              { value: 'perWeek', label: 'Per week' },
            ]}
            onChange={(value) => setSize(value === 'perWeek' ? 'perWeek' : 'share')}
          />
          {size === 'share' ? (
            <TextField name="share" label="Sampling rate (%)" inputMode="decimal" required />
          ) : (
            <TextField name="perWeek" label="Conversations per week" inputMode="numeric" required />
          )}
        </Row>
      )}
      {type !== 'static' && (
        <fieldset className={styles.filter}>
          <legend>{type === 'sampled' ? 'Sample from' : 'Filter'}</legend>
          <FilterChips filter={filters} onChange={setFilters} without={['bucketId', 'since', 'until']} />
          <div className={styles.words}>
            <span>Matches now:</span> <FilterWords filter={filters} />
          </div>
        </fieldset>
      )}
      <Chooser
        label="Monitors"
        hint="Reviewers must judge the results of these monitors."
        options={monitors.options}
        value={monitorIds}
        onChange={setMonitors}
        placeholder="Optional"
      />
      <Chooser
        label="Reviewers"
        options={people.options}
        value={reviewerUserIds}
        onChange={setReviewers}
        placeholder="All members"
      />
      <SelectField
        name="reviewsPerConversation"
        label="Reviews per conversation"
        hint={bucket ? 'Applies to conversations added from now on.' : undefined}
        options={perConversation}
      />
      <CheckField
        name="blind"
        label="Blind review"
        hint="Hides monitor results and other reviews until the reviewer has answered."
      />
      <CheckField
        name="noteOnDisagreement"
        label="Require a note on disagreement"
        hint="Blind buckets require a note with every judgment, so that asking for a note doesn’t reveal the result."
      />
    </Form>
  )
}
