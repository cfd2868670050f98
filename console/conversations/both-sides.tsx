import type { ReactNode } from 'react'
import styles from './aside.module.css'

/** Shows a value, or a dash if it is not known. */
export const show = (value: number | null, format: (value: number) => string): ReactNode =>
  value === null ? <span className={styles.none}>–</span> : format(value)

type BySide = { agent: number | null; customer: number | null }

type BothSidesProps = {
  /** The heading of the rows. */
  heading: string
  rows: [name: string, values: BySide, format: (value: number) => string][]
}

/** Shows values for the agent and the customer next to each other. */
export const BothSides = ({ heading, rows }: BothSidesProps) => (
  <table className={styles.pairs}>
    <thead>
      <tr>
        <th scope="col">
          <span>{heading}</span>
        </th>
        <th scope="col">Agent</th>
        <th scope="col">Customer</th>
      </tr>
    </thead>
    <tbody>
      {rows.map(([name, { agent, customer }, format]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{show(agent, format)}</td>
          <td>{show(customer, format)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
