import type { ReactNode } from 'react'
import { Button } from '../button.tsx'
import styles from './charts.module.css'

export type ChartTable = { head: string[]; rows: ReactNode[][] }

export const AsTable = ({ isOn, onChange }: { isOn: boolean; onChange: (isOn: boolean) => void }) => (
  <span className={styles.switch} data-no-picture>
    <Button small look="quiet" onClick={() => onChange(!isOn)}>
      {isOn ? 'Show as chart' : 'Show as table'}
    </Button>
  </span>
)

/** Shows a chart's data as a table. */
export const ChartRows = ({ title, table: { head, rows } }: { title: string; table: ChartTable }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
  <section className={styles.tableBox} aria-label={`${title}, as a table`} tabIndex={0}>
    <table className={styles.table}>
      <thead>
        <tr>
          {head.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows are in the order of the chart's points
          <tr key={index}>
            {row.map((cell, at) => (
              <td key={head[at]}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)
