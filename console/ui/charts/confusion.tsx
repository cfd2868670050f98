import type { CSSProperties } from 'react'
import { formatCount, formatPercent } from '../../lib/format.ts'
import styles from './charts.module.css'

export type Matrix = {
  truePositives: number
  falsePositives: number
  falseNegatives: number
  trueNegatives: number
}

type ConfusionProps = {
  /** Describes the chart. */
  title: string
  matrix: Matrix
  /** The labels of the rows and columns. */
  sides?: { rows: string; columns: string }
}

const grid: { name: string; cells: (keyof Matrix)[] }[] = [
  { name: 'affected', cells: ['truePositives', 'falsePositives'] },
  { name: 'not affected', cells: ['falseNegatives', 'trueNegatives'] },
]

/** Shows a 2×2 table of two raters' answers, which are affected or not affected. The raters agree on the diagonal. */
export const Confusion = ({ title, matrix, sides }: ConfusionProps) => {
  const { rows = 'Monitor', columns = 'People' } = sides ?? {}
  const total = Object.values(matrix).reduce((sum, count) => sum + count, 0)
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.caption}>
        <span className={styles.title}>{title}</span>
      </figcaption>
      <table className={styles.confusion}>
        <thead>
          <tr>
            <td />
            <th scope="col">{columns}: affected</th>
            <th scope="col">{columns}: not affected</th>
          </tr>
        </thead>
        <tbody>
          {grid.map(({ name, cells }) => (
            <tr key={name}>
              <th scope="row">
                {rows}: {name === 'affected' ? 'affected' : 'not affected'}
              </th>
              {cells.map((cell) => {
                const share = total === 0 ? 0 : matrix[cell] / total
                const words = (
                  <>
                    <strong>{formatCount(matrix[cell])}</strong> {total > 0 && <span>{formatPercent(share)}</span>}
                  </>
                )
                return (
                  <td
                    key={cell}
                    className={cell.startsWith('true') ? styles.agree : styles.differ}
                    // TypeScript's style types don't include custom properties.
                    style={{ '--share': `${Math.round(share * 100)}%` } as CSSProperties}
                  >
                    {words}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
