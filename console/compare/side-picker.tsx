// Shows the fields for the agent, version, company, and period of one side.

import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { versionName, versionOptions, versionsOptions } from '../agents/queries.ts'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { Field, type Option, Select } from '../ui/controls.tsx'
import styles from './compare.module.css'
import type { SideSearch } from './search.ts'

type ChoiceProps = {
  label: string
  /** The label of the option that selects nothing. */
  any: string
  value: string | undefined
  options: Option[]
  disabled?: boolean
  onChange: (value: string | undefined) => void
}

const OneOf = ({ label, any, value, options, disabled = false, onChange }: ChoiceProps) => {
  const isKnown = value === undefined || options.some((option) => option.value === value)
  const shown = isKnown ? options : [...options, { value, label: `${value.slice(0, 8)}…` }]
  return (
    <Field label={label}>
      {(ids) => (
        <Select
          {...ids}
          disabled={disabled}
          value={value ?? ''}
          options={[{ value: '', label: any }, ...shown]}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
        />
      )}
    </Field>
  )
}

type VersionProps = { agent: string; value: string | undefined; onChange: (version: string | undefined) => void }

const anyVersion = 'All versions'

const VersionOf = ({ agent, value, onChange }: VersionProps) => {
  const { rows = [] } = useList(versionsOptions(agent))
  const isListed = rows.some(({ id }) => id === value)
  const { data } = useQuery({ ...versionOptions(agent, value ?? ''), enabled: value !== undefined && !isListed })
  const versions = data && !isListed ? [...rows, data] : rows
  const options = versions.map((version) => ({ value: version.id, label: versionName(version) }))
  return <OneOf label="Version" any={anyVersion} value={value} options={options} onChange={onChange} />
}

const withValue = (side: SideSearch, name: 'version' | 'company', value: string | undefined): SideSearch => {
  const { [name]: _, ...others } = side
  return value === undefined ? others : { ...others, [name]: value }
}

type SidePickerProps = {
  /** The side's name on the page. */
  name: 'A' | 'B'
  side: SideSearch
  onChange: (side: SideSearch) => void
  /** The control for the side's period. */
  period: ReactNode
  disabled: boolean
}

export const SidePicker = ({ name, side, onChange, period, disabled }: SidePickerProps) => {
  const agents = useNames('agents')
  const companies = useNames('companies')
  const { agent, version, company } = side
  const chooseAgent = (value: string | undefined) => {
    const { agent: _agent, version: _version, ...others } = side
    onChange(value === undefined ? others : { ...others, agent: value })
  }
  return (
    <fieldset className={styles.side} disabled={disabled}>
      <legend>
        <span className={styles.letter}>{name}</span>
      </legend>
      <OneOf label="Agent" any="All agents" value={agent} options={agents.options} onChange={chooseAgent} />
      {agent === undefined ? (
        <OneOf label="Version" any={anyVersion} value={undefined} options={[]} disabled onChange={() => {}} />
      ) : (
        <VersionOf
          key={agent}
          agent={agent}
          value={version}
          onChange={(value) => onChange(withValue(side, 'version', value))}
        />
      )}
      <OneOf
        label="Company"
        any="All companies"
        value={company}
        options={companies.options}
        onChange={(value) => onChange(withValue(side, 'company', value))}
      />
      <div className={styles.period}>{period}</div>
    </fieldset>
  )
}
