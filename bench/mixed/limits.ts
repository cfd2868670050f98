// Reads the limits under load from the two tables in docs/operating.md.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const page = join(import.meta.dirname, '../../docs/operating.md')

export type RequestLimits = { perSecond: number; p50: number; p99: number }

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** Reads rows of `| what | a second | p50, ms | p99, ms |` and of `| what | at most |` below the heading. */
export const readLimits = async () => {
  const [, section = ''] = (await readFile(page, 'utf8')).split('\n## Under load\n')
  const [text = ''] = section.split('\n## ')
  const requests = new Map<string, RequestLimits>()
  const others = new Map<string, number>()
  for (const cells of text.split('\n').map(cellsOf)) {
    const [name = '', ...rest] = cells
    const numbers = rest.map((cell) => Number.parseFloat(cell.replaceAll(',', '')))
    if (!numbers.every(Number.isFinite)) continue
    const [first, p50, p99] = numbers
    if (first !== undefined && p50 !== undefined && p99 !== undefined)
      requests.set(name, { perSecond: first, p50, p99 })
    else if (first !== undefined) others.set(name, first)
  }
  const get = <Limit>(limits: Map<string, Limit>, name: string): Limit => {
    const limit = limits.get(name)
    if (limit === undefined) throw new Error(`docs/operating.md has no limit for: ${name}`)
    return limit
  }
  return { ofRequest: (name: string) => get(requests, name), of: (name: string) => get(others, name) }
}
