// Shows the form fields for a scorecard's sections, items, and bands.

import { useQuery } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, Plus } from 'lucide-react'
import { useFieldArray, useFormContext } from 'react-hook-form'
import { namesOptions } from '../../api/names.ts'
import { formatNumber, formatPercent } from '../../lib/format.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ChooserOfOne } from '../../ui/chooser.tsx'
import { Row } from '../../ui/controls.tsx'
import { CheckField, SelectField, TextField } from '../../ui/form.tsx'
import { FaultNote } from '../../ui/states.tsx'
import type { Draft } from '../draft.ts'
import type { Monitor } from '../queries.ts'
import { RemovableRow, RemovableRows } from '../removable-row.tsx'
import { itemOf, type NotApplicable, sharesOf } from './draft.ts'
import styles from './scorecard.module.css'

const mostSections = 20
const mostItems = 100
const mostBands = 20

const rules: { value: NotApplicable; label: string }[] = [
  { value: 'exclude', label: 'Exclude its points' },
  { value: 'full', label: 'Award full points' },
  { value: 'zero', label: 'Award no points' },
]

/** Returns the monitors that can be items. */
const useItems = () => {
  const { data = [], error, refetch } = useQuery(namesOptions('monitors'))
  // The names are read from the loaded monitors.
  const monitors = (data as Monitor[]).filter(({ kind }) => kind !== 'scorecard')
  return { monitors, error, retry: () => void refetch() }
}

type MoveProps = { name: string; at: number; count: number; move: (from: number, to: number) => void }

const Move = ({ name, at, count, move }: MoveProps) => (
  <>
    <IconButton label={`Move ${name} up`} icon={<ArrowUp />} disabled={at === 0} onClick={() => move(at, at - 1)} />
    <IconButton
      label={`Move ${name} down`}
      icon={<ArrowDown />}
      disabled={at === count - 1}
      onClick={() => move(at, at + 1)}
    />
  </>
)

const versionsOf = (monitor: Monitor | undefined) => [
  { value: '', label: 'Always the newest' },
  ...Array.from({ length: monitor?.currentVersion.number ?? 0 }, (_, at) => ({
    value: String(at + 1),
    label: `Version ${at + 1}`,
  })).reverse(),
]

type ItemProps = MoveProps & { path: `scorecard.sections.${number}.items.${number}`; monitor: Monitor | undefined }

const Item = ({ path, monitor, name, ...place }: ItemProps) => {
  const { register, getFieldState, formState } = useFormContext<Draft>()
  const fault = getFieldState(`${path}.monitorId`, formState).error?.message
  return (
    <div className={styles.fields}>
      <div className={styles.head}>
        <strong>{name}</strong>
        <span className={styles.moves}>
          <Move name={name} {...place} />
        </span>
      </div>
      <input type="hidden" {...register(`${path}.monitorId`)} />
      {fault && (
        <p role="alert" className={styles.fault}>
          {fault}
        </p>
      )}
      <Row>
        <TextField name={`${path}.points`} label="Points" type="number" required min={0.01} max={1_000} step={0.01} />
        <SelectField name={`${path}.version`} label="Version" options={versionsOf(monitor)} />
        <SelectField name={`${path}.notApplicable`} label="If not applicable" options={rules} />
      </Row>
      <CheckField name={`${path}.autoFail`} label="Fails the whole scorecard if affected" />
    </div>
  )
}

type SectionProps = MoveProps & { monitors: Monitor[]; onRemove: () => void }

const Section = ({ at, name, monitors, onRemove, ...place }: SectionProps) => {
  const { control, watch } = useFormContext<Draft>()
  const path = `scorecard.sections.${at}` as const
  const items = useFieldArray({ control, name: `${path}.items` })
  const used = watch('scorecard.sections').flatMap((section) => section.items.map(({ monitorId }) => monitorId))
  const options = monitors
    .filter(({ id }) => !used.includes(id))
    .map((monitor) => ({ value: monitor.id, label: monitor.name }))
  return (
    <RemovableRow name={name} onRemove={onRemove}>
      <div className={styles.fields}>
        <div className={styles.head}>
          <TextField name={`${path}.name`} label="Section" required maxLength={100} placeholder="Compliance" />
          <span className={styles.moves}>
            <Move name={name} at={at} {...place} />
          </span>
        </div>
        <RemovableRows label={`Items in ${name}`}>
          {items.fields.map((item, index) => {
            const monitor = monitors.find(({ id }) => id === item.monitorId)
            const title = monitor?.name ?? `${item.monitorId.slice(0, 8)}…`
            return (
              <RemovableRow key={item.id} name={title} onRemove={() => items.remove(index)}>
                <Item
                  path={`${path}.items.${index}`}
                  monitor={monitor}
                  name={title}
                  at={index}
                  count={items.fields.length}
                  move={items.move}
                />
              </RemovableRow>
            )
          })}
        </RemovableRows>
        {used.length < mostItems && (
          <ChooserOfOne
            // This makes the field empty again after each addition.
            key={items.fields.length}
            label={`Add a monitor to ${name}`}
            options={options}
            value={null}
            placeholder="Search monitors"
            onChange={(id) => {
              if (id === null) return
              items.append(itemOf(id), { focusName: `${path}.items.${items.fields.length}.points` })
            }}
          />
        )}
      </div>
    </RemovableRow>
  )
}

const Sections = () => {
  const { control, watch } = useFormContext<Draft>()
  const { fields, append, remove, move } = useFieldArray({ control, name: 'scorecard.sections' })
  const { monitors, error, retry } = useItems()
  const sections = watch('scorecard.sections')
  return (
    <fieldset className={styles.group}>
      <legend>Sections and items</legend>
      <p className={styles.soft}>
        Each item is a monitor that earns its points if the result is not affected. Every monitor should therefore ask
        whether something is wrong.
      </p>
      {error && <FaultNote error={error} retry={retry} />}
      <RemovableRows>
        {fields.map(({ id }, at) => (
          <Section
            key={id}
            at={at}
            name={sections[at]?.name.trim() || `section ${at + 1}`}
            count={fields.length}
            move={move}
            monitors={monitors}
            onRemove={() => remove(at)}
          />
        ))}
      </RemovableRows>
      <div>
        <Button
          small
          disabled={fields.length >= mostSections}
          onClick={() => append({ name: `Section ${fields.length + 1}`, items: [] })}
        >
          <Plus aria-hidden="true" /> Add section
        </Button>
      </div>
    </fieldset>
  )
}

const Bands = () => {
  const { control } = useFormContext<Draft>()
  const { fields, append, remove } = useFieldArray({ control, name: 'scorecard.bands' })
  return (
    <fieldset className={styles.group}>
      <legend>Bands</legend>
      <p className={styles.soft}>A score gets the name of the highest band it reaches. One band must start at 0.</p>
      <RemovableRows>
        {fields.map(({ id }, at) => (
          <RemovableRow key={id} name={`band ${at + 1}`} onRemove={() => remove(at)}>
            <Row>
              <TextField name={`scorecard.bands.${at}.name`} label="Name" required maxLength={100} placeholder="Pass" />
              <TextField
                name={`scorecard.bands.${at}.from`}
                label="From"
                type="number"
                required
                min={0}
                max={100}
                step="any"
              />
            </Row>
          </RemovableRow>
        ))}
      </RemovableRows>
      <div>
        <Button
          small
          disabled={fields.length >= mostBands}
          onClick={() => append({ name: '', from: fields.length > 0 ? '' : '0' })}
        >
          <Plus aria-hidden="true" /> Add band
        </Button>
      </div>
    </fieldset>
  )
}

export const ScorecardFields = () => (
  <>
    <Sections />
    <TextField
      name="scorecard.affectedBelow"
      label="Affected if the score is below"
      hint="Scores range from 0 to 100. Conversations with a lower score count as affected."
      type="number"
      required
      min={0}
      max={100}
      step="any"
    />
    <Bands />
  </>
)

/** Shows how the points are distributed. */
export const PointsPane = ({ scorecard }: { scorecard: Draft['scorecard'] }) => {
  const shares = sharesOf(scorecard)
  return (
    <section className={styles.points} aria-label="Points">
      <h2>Points</h2>
      <table className={styles.table}>
        <caption className={styles.hidden}>Points per section</caption>
        <thead>
          <tr>
            <th scope="col">Section</th>
            <th scope="col">Items</th>
            <th scope="col">Points</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {scorecard.sections.map(({ name, items }, at) => (
            // Sections can have the same name, and only their order identifies them.
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no state
            <tr key={at}>
              <th scope="row">{name}</th>
              <td>{items.length}</td>
              <td>{formatNumber(shares[at]?.points ?? 0)}</td>
              <td>{formatPercent(shares[at]?.share ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className={styles.soft}>
        Earshot computes a scorecard from the results of its items, so it costs nothing. A conversation without a result
        for each item is unscored. Each item needs at least the scorecard’s scope and sampling rate.
      </p>
    </section>
  )
}
