// Shows an export's fields except its period, shared with export schedules.
import { X } from 'lucide-react'
import { useNames } from '../api/names.ts'
import { MetadataLines } from '../filters/filter-lines.tsx'
import { IconButton } from '../ui/button.tsx'
import { Chooser, ChooserOfOne } from '../ui/chooser.tsx'
import { Check, Choice, Row, Select } from '../ui/controls.tsx'
import { formats } from './formats.ts'
import styles from './new-export.module.css'
import type { ResultsConfig as Config, What } from './queries.ts'

type FieldsProps = { draft: What; change: (part: Partial<What>) => void }

const maxMonitors = 20

const results = [
  { value: 'all', label: 'All results' },
  { value: 'affected', label: 'Affected only' },
  { value: 'not_affected', label: 'Not affected only' },
]
// Browsers only list the time zones of places, so UTC is added.
export const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => ({ value: zone, label: zone }))

export const Monitors = ({ draft, change }: FieldsProps) => {
  const { options, nameOf } = useNames('monitors')
  const set = (ids: string[]) =>
    change({
      monitors: ids.slice(0, maxMonitors).map((id) => draft.monitors.find((monitor) => monitor.id === id) ?? { id }),
    })
  const conditions = draft.monitors.filter(({ result = 'all' }) => result !== 'all')
  return (
    <>
      <Chooser
        label="Monitors"
        hint={`Up to ${maxMonitors} monitors. Columns follow this order.`}
        options={options}
        value={draft.monitors.map(({ id }) => id)}
        onChange={set}
        placeholder="Add monitor"
      />
      {draft.monitors.map(({ id, result = 'all' }) => (
        <div key={id} className={styles.monitor}>
          <span className={styles.name}>{nameOf(id)}</span>
          <Select
            aria-label={`Results from ${nameOf(id)}`}
            value={result}
            options={results}
            onChange={({ target }) =>
              change({
                monitors: draft.monitors.map((monitor) =>
                  monitor.id === id
                    ? { id, result: target.value as NonNullable<Config['monitors'][number]['result']> }
                    : monitor,
                ),
              })
            }
          />
          <IconButton
            label={`Remove ${nameOf(id)}`}
            icon={<X />}
            onClick={() => set(draft.monitors.map((monitor) => monitor.id).filter((other) => other !== id))}
          />
        </div>
      ))}
      {conditions.length > 1 && (
        <Choice
          label="Match"
          value={draft.match ?? 'all'}
          options={[
            { value: 'all', label: 'All' },
            { value: 'any', label: 'Any' },
          ]}
          onChange={(match) => change({ match: match === 'any' ? 'any' : 'all' })}
        />
      )}
    </>
  )
}

export const Calls = ({ draft, change }: FieldsProps) => {
  const agents = useNames('agents')
  const groups = useNames('agentGroups')
  const companies = useNames('companies')
  const one = (name: 'agentId' | 'groupId' | 'companyId', label: string, { options }: typeof agents) => (
    <ChooserOfOne
      label={label}
      options={options}
      value={draft[name] ?? null}
      onChange={(value) => change({ [name]: value ?? '' })}
      placeholder="Any"
    />
  )
  return (
    <>
      <Row>
        {one('agentId', 'Agent', agents)}
        {groups.options.length > 0 && one('groupId', 'Agent group', groups)}
        {companies.options.length > 0 && one('companyId', 'Company', companies)}
      </Row>
      <MetadataLines
        filter={{ ...(draft.metadata && { metadata: draft.metadata }) }}
        onChange={({ metadata = [] }) => change({ metadata })}
      />
    </>
  )
}

export const FileForm = ({ draft, change }: FieldsProps) => (
  <>
    <Choice
      label="Format"
      value={draft.format ?? 'csv'}
      options={formats}
      onChange={(format) => change({ format: format as NonNullable<Config['format']> })}
    />
    <Check
      label="Include reasoning"
      hint="Adds a column with each monitor’s reasoning."
      checked={draft.reasoning ?? false}
      onChange={({ target }) => change({ reasoning: target.checked })}
    />
    <Check
      label="Current versions only"
      hint="Otherwise, each conversation’s latest result from any version is used."
      checked={draft.versionScope === 'current'}
      onChange={({ target }) => change({ versionScope: target.checked ? 'current' : 'historical' })}
    />
  </>
)
