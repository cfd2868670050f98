import { asFault } from '../api/fault.ts'

const judgmentAt = (path: string) => {
  const [, index, part] = /^judgments\[(\d+)\]\.?(\w*)/.exec(path) ?? []
  return index === undefined ? undefined : { index: Number(index), part }
}

export type Issues = {
  /** Monitors that have no result for the conversation. */
  absent: string[]
  /** Error messages about missing notes, by monitor ID. */
  notes: Record<string, string>
}

/**
 * Returns an error's issues with judgments, or undefined if it also has other issues. `judged` contains the monitor IDs
 * in the order in which the judgments were sent.
 */
export const issuesOf = (error: unknown, judged: string[]): Issues | undefined => {
  const { issues } = asFault(error)
  const placed = issues.flatMap(({ path, message }) => {
    const position = judgmentAt(path)
    const isKnown = position?.part === 'monitorId' || position?.part === 'comment'
    return isKnown ? [{ id: judged[position.index] ?? '', isAbsent: position.part === 'monitorId', message }] : []
  })
  if (placed.length === 0 || placed.length < issues.length) return undefined
  const wanting = placed.filter(({ isAbsent }) => !isAbsent)
  return {
    absent: placed.filter(({ isAbsent }) => isAbsent).map(({ id }) => id),
    notes: Object.fromEntries(wanting.map(({ id, message }) => [id, `A note ${message}.`])),
  }
}
