import type { Analytics, Chart, Group } from './queries.ts'
import { groupsOf } from './values.ts'

const quoted = (cell: string): string => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

/** Neutralizes a cell that starts like a formula, because spreadsheets would run it. */
const harmless = (cell: string): string => (/^[=+\-@\t\r]/.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell)

export const toCsv = (rows: (string | number | null)[][]): string =>
  rows.map((row) => row.map((cell) => quoted(harmless(cell === null ? '' : String(cell)))).join(',')).join('\r\n')

/** Returns the answer of a chart, with a row for each group, or for each group and period. */
export const csvOf = ({ query }: Pick<Chart, 'query'>, { groups }: Analytics): string => {
  const dimensions = groupsOf(query)
  const figures = ({ n, value, interval95 }: Pick<Group, 'n' | 'value' | 'interval95'>) => [
    n,
    value,
    interval95?.low ?? null,
    interval95?.high ?? null,
  ]
  const columns = ['n', 'value', 'low', 'high']
  if (query.interval === undefined) {
    return toCsv([[...dimensions, ...columns], ...groups.map((group) => [...group.label, ...figures(group)])])
  }
  return toCsv([
    [...dimensions, 'start', 'end', ...columns],
    ...groups.flatMap((group) =>
      (group.series ?? []).map(({ start, end, ...figure }) => [...group.label, start, end, ...figures(figure)]),
    ),
  ])
}
