// Changes the order and width of charts. Pure.

import type { Option } from '../ui/controls.tsx'
import type { Chart, ChartInput } from './queries.ts'

type Width = Chart['width']

export const widthNames: (Option & { value: Width })[] = [
  { value: 'third', label: 'A third' },
  { value: 'half', label: 'Half' },
  { value: 'full', label: 'Full' },
]

/** Moves a chart to a position. If it was removed in the meantime, nothing moves. */
export const moved = <C extends ChartInput>(charts: C[], id: string, to: number): C[] => {
  const chart = charts.find((each) => each.id === id)
  return chart ? charts.filter((each) => each.id !== id).toSpliced(to, 0, chart) : charts
}

export const withWidth = <C extends ChartInput>(charts: C[], id: string, width: Width): C[] =>
  charts.map((chart) => (chart.id === id ? { ...chart, width } : chart))

/** Replaces a chart, or adds it at the end. A chart that was removed in the meantime is added again. */
export const stored = (charts: ChartInput[], chart: ChartInput): ChartInput[] => {
  const at = charts.findIndex(({ id }) => id !== undefined && id === chart.id)
  return at < 0 ? [...charts, chart] : charts.with(at, chart)
}
