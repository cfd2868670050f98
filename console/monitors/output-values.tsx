// Shows the categories and fields of a result.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { namesOptions } from '../api/names.ts'
import { formatNumber } from '../lib/format.ts'
import styles from './output-values.module.css'
import { categoryLabel } from './outputs.ts'
import type { Monitor } from './queries.ts'

type Evidence = { turn: number; quote: string; field?: string }

type OutputValuesProps = {
  monitorId: string | undefined
  categories: string[] | null
  fields: Record<string, unknown> | null
  unsupportedFields: string[]
  evidence: Evidence[]
  /** Shows a quote, usually with a link to its turn. */
  quote: (evidence: Evidence) => ReactNode
}

const written = (value: unknown): string => {
  if (value === null || value === undefined) return 'Not mentioned'
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'number') return formatNumber(value)
  return Array.isArray(value) ? value.join(', ') : String(value)
}

const Chips = ({ monitorId, categories }: { monitorId: string | undefined; categories: string[] }) => {
  const { data = [] } = useQuery(namesOptions('monitors'))
  // The names are read from complete monitors.
  const monitor = data.find(({ id }) => id === monitorId) as Monitor | undefined
  if (categories.length === 0) return <p className={styles.soft}>No category</p>
  return (
    <ul className={styles.chips} aria-label="Categories">
      {categories.map((category) => {
        const label = categoryLabel(monitor, category)
        if (monitorId === undefined) return <li key={category}>{label}</li>
        const filter = { categories: { monitorId, any: [category] } }
        return (
          <li key={category}>
            <Link to="/conversations" search={{ filter }} title="Conversations in this category">
              {label}
            </Link>
          </li>
        )
      })}
    </ul>
  )
}

export const OutputValues = ({
  monitorId,
  categories,
  fields,
  unsupportedFields,
  evidence,
  quote,
}: OutputValuesProps) => (
  <>
    {categories && <Chips monitorId={monitorId} categories={categories} />}
    {fields && Object.keys(fields).length > 0 && (
      <table className={styles.fields}>
        <caption className={styles.hidden}>Fields</caption>
        <tbody>
          {Object.entries(fields).map(([key, value]) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td className={value === null ? styles.soft : undefined}>
                {unsupportedFields.includes(key) ? 'Not in the quoted turn' : written(value)}
                {evidence
                  .filter(({ field }) => field === key)
                  .map((each) => (
                    <div key={`${each.turn} ${each.quote}`}>{quote(each)}</div>
                  ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </>
)
