import { useRef, useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import type { Filter } from '../filters/filter.ts'
import { FilterWords } from '../filters/filter-bar.tsx'
import { FilterFields } from '../filters/filter-fields.tsx'
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
  { value: 'static', label: 'By hand' },
  { value: 'dynamic', label: 'By a filter' },
  { value: 'sampled', label: 'A fair sample' },
]

const teaching: Record<Type, string> = {
  static: 'Holds what is put in by hand, from a conversation or by a filter, once.',
  dynamic: 'Takes all that the filter selects, as it arrives from now on. More can be put in by hand.',
  sampled:
    'Takes a fair sample of what the filter selects, from now on. What reviews say of it holds for all of that, so it can correct the rates of monitors.',
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

/** Left as it was typed where it is no number: the service says what is wrong. */
const numberOf = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text.replace(',', '.')))

const perConversation = ['One', 'Two', 'Three', 'Four', 'Five'].map((word, at) => ({
  value: String(at + 1),
  label: at === 0 ? 'One person' : `${word} different people`,
}))

type BucketFormProps = { bucket?: Bucket; onDone: (bucket: Bucket) => void; onCancel: () => void }

/** A new bucket, or the settings of one that there is. */
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
    announce(bucket ? 'The bucket is changed' : 'The bucket is made', saved.name)
    onDone(saved)
  }
  return (
    <Form
      form={form}
      send={send}
      submit={bucket ? 'Keep the changes' : 'Make the bucket'}
      beside={<Button onClick={onCancel}>Cancel</Button>}
    >
      <LeaveGuard isDirty={() => isDirty && !isDone.current} />
      <TextField name="name" label="Name" required maxLength={255} />
      {!bucket && (
        <div>
          <Choice
            label="How it fills"
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
            label="How many"
            value={size}
            options={[
              { value: 'share', label: 'A share' },
              { value: 'perWeek', label: 'So many a week' },
            ]}
            onChange={(value) => setSize(value === 'perWeek' ? 'perWeek' : 'share')}
          />
          {size === 'share' ? (
            <TextField name="share" label="Per cent" inputMode="decimal" required />
          ) : (
            <TextField name="perWeek" label="Conversations a week" inputMode="numeric" required />
          )}
        </Row>
      )}
      {type !== 'static' && (
        <fieldset className={styles.filter}>
          <legend>{type === 'sampled' ? 'Of which conversations' : 'Which conversations'}</legend>
          <FilterFields filter={filters} onChange={setFilters} without={['bucketId', 'since', 'until']} />
          <div className={styles.words}>
            <span>So far:</span> <FilterWords filter={filters} />
          </div>
        </fieldset>
      )}
      <Chooser
        label="Monitors to judge"
        hint="A completed review says of each what it should have found."
        options={monitors.options}
        value={monitorIds}
        onChange={setMonitors}
        placeholder="None: whoever reviews judges what they like"
      />
      <Chooser
        label="Reviewers"
        options={people.options}
        value={reviewerUserIds}
        onChange={setReviewers}
        placeholder="Everyone who may write"
      />
      <SelectField
        name="reviewsPerConversation"
        label="Each is reviewed by"
        hint={bucket ? 'Of what is put in from now on.' : undefined}
        options={perConversation}
      />
      <CheckField
        name="blind"
        label="Blind"
        hint="What the monitors and others say is kept from a reviewer until the own answer is given."
      />
      <CheckField
        name="noteOnDisagreement"
        label="A note where people differ from the monitor"
        hint="In a blind bucket with every judgment, since to ask only there would tell what the monitor found."
      />
    </Form>
  )
}
