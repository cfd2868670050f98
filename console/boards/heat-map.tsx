import { formatCount } from '../lib/format.ts'
import styles from './boards.module.css'
import type { DrawingProps } from './drawings.tsx'
import { formatOf, written } from './values.ts'

const shades = 5

/** Shows values by two dimensions. Darker cells have larger values. */
export const HeatMap = ({ chart, answer: { groups } }: DrawingProps) => {
  const format = formatOf(chart.query.measure)
  const known = groups.filter(({ isOther }) => !isOther)
  // Hours and weekdays are numbers, and all other dimensions are text.
  const inOrder = (at: number) => {
    const labels = new Map(known.map(({ key, label }) => [key[at] ?? '', label[at] ?? '']))
    return [...labels].sort(([a], [b]) => Number(a) - Number(b) || (a < b ? -1 : 1))
  }
  const [down, across] = [inOrder(0), inOrder(1)]
  const cells = new Map(known.map((group) => [JSON.stringify(group.key), group]))
  const values = known.flatMap(({ value }) => value ?? [])
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const shadeOf = (value: number) =>
    high === low ? 1 : Math.min(shades - 1, Math.floor(((value - low) / (high - low)) * shades))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={styles.heat} aria-label={`${chart.title}, as a table`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <td />
            {across.map(([key, label]) => (
              <th key={key} scope="col">
                {label.replace(':00', '')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {down.map(([row, label]) => (
            <tr key={row}>
              <th scope="row">{label}</th>
              {across.map(([column, name]) => {
                const group = cells.get(JSON.stringify([row || null, column || null]))
                const words = group
                  ? `${label}, ${name}: ${written(group.value, format)}, n = ${formatCount(group.n)}`
                  : undefined
                return (
                  <td
                    key={column}
                    title={words}
                    {...(group && group.value !== null && { className: styles[`shade${shadeOf(group.value)}`] })}
                  >
                    <span className={styles.hidden}>{words ?? 'No data'}</span>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <p className={styles.soft}>
        {values.length > 0 ? `${format(low)} (light) to ${format(high)} (dark)` : 'No data'}
      </p>
    </section>
  )
}
