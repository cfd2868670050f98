// Draws the history of a measure as a small image, for destinations that show images.

import { encode } from 'fast-png'

export type ChartPoint = { value: number | null; low: number | null; high: number | null }

export type Chart = {
  /** The points are evenly spaced. The oldest is first, and the last one is now. */
  points: ChartPoint[]
  threshold: number | null
  /** Describes the image for readers who can't see it. */
  label: string
}

const width = 480
const height = 120
const margin = 8
/** Each pixel is the mean of this many samples in both directions, which smooths edges. */
const samples = 2

type Color = readonly [red: number, green: number, blue: number]

/** The colors are chosen for a white background. */
const colors = {
  band: [214, 228, 250],
  threshold: [220, 38, 38],
  line: [37, 99, 235],
} satisfies Record<string, Color>
const palette: Color[] = Object.values(colors)

const lineWidth = 2
const thresholdWidth = 1.5
const dash = 6
const dotRadius = 4

type Range = { from: number; to: number }

/** Returns the range of all values with some space around it, so that even a single value has a range. */
const rangeOf = ({ points, threshold }: Chart): Range => {
  const values = [...points.flatMap(({ value, low, high }) => [value, low, high]), threshold]
  const known = values.filter((value) => value !== null)
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const space = (most - least) / 10 || Math.abs(most) / 10 || 1
  return { from: least - space, to: most + space }
}

/** Returns a value between two points, or null outside them and next to a gap. */
const between = (points: ChartPoint[], of: keyof ChartPoint, at: number): number | null => {
  const before = points[Math.floor(at)]?.[of] ?? null
  const after = points[Math.ceil(at)]?.[of] ?? null
  if (before === null || after === null) return null
  return before + (after - before) * (at - Math.floor(at))
}

/** A vertical span of an image column, in pixels from the top. */
type Stretch = { color: keyof typeof colors; top: number; bottom: number }

/** Returns the spans to paint in a column of the image. Later spans cover earlier ones. */
const stretchesOf = (chart: Chart) => {
  const { points, threshold } = chart
  const { from, to } = rangeOf(chart)
  const last = Math.max(1, points.length - 1)
  const heightOf = (value: number) => margin + (1 - (value - from) / (to - from)) * (height - 2 * margin)
  const heightAt = (of: keyof ChartPoint, x: number) => {
    const value = between(points, of, ((x - margin) / (width - 2 * margin)) * last)
    return value === null ? null : heightOf(value)
  }
  const around = (color: Stretch['color'], [one, other]: [number, number], half: number): Stretch => ({
    color,
    top: Math.min(one, other) - half,
    bottom: Math.max(one, other) + half,
  })
  const end = points.at(-1)?.value ?? null

  return (x: number): Stretch[] => {
    const [low, high] = [heightAt('low', x), heightAt('high', x)]
    const line = heightAt('value', x)
    const next = heightAt('value', x + 1 / samples) ?? line
    const fromEnd = Math.abs(x - (width - margin))
    return [
      ...(low === null || high === null ? [] : [around('band', [low, high], 0)]),
      ...(threshold === null || x % (2 * dash) > dash
        ? []
        : [around('threshold', [heightOf(threshold), heightOf(threshold)], thresholdWidth / 2)]),
      ...(line === null || next === null ? [] : [around('line', [line, next], lineWidth / 2)]),
      ...(end === null || fromEnd > dotRadius
        ? []
        : [around('line', [heightOf(end), heightOf(end)], Math.sqrt(dotRadius ** 2 - fromEnd ** 2))]),
    ]
  }
}

/** Returns a PNG file. */
const drawChart = (chart: Chart): Uint8Array => {
  const stretchesAt = stretchesOf(chart)
  const data = new Uint8ClampedArray(width * height * 3).fill(255)
  const column = new Uint8Array(height * samples)
  const share = 1 / samples ** 2
  const darken = (at: number, [red, green, blue]: Color) => {
    data[at] = (data[at] ?? 0) - (255 - red) * share
    data[at + 1] = (data[at + 1] ?? 0) - (255 - green) * share
    data[at + 2] = (data[at + 2] ?? 0) - (255 - blue) * share
  }
  for (let x = 0; x < width * samples; x++) {
    column.fill(0)
    for (const { color, top, bottom } of stretchesAt((x + 0.5) / samples)) {
      const index = palette.indexOf(colors[color]) + 1
      column.fill(index, Math.max(0, Math.round(top * samples)), Math.max(0, Math.round(bottom * samples)))
    }
    for (let y = 0; y < column.length; y++) {
      const color = palette[(column[y] ?? 0) - 1]
      if (color) darken((Math.floor(y / samples) * width + Math.floor(x / samples)) * 3, color)
    }
  }
  return encode({ width, height, data, channels: 3 })
}

/** Returns the image as a URL that contains it. */
export const chartUrl = (chart: Chart): string =>
  `data:image/png;base64,${Buffer.from(drawChart(chart)).toString('base64')}`
