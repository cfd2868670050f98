import { asFault } from '../api/fault.ts'

const judgmentAt = (path: string) => {
  const [, index, part] = /^judgments\[(\d+)\]\.?(\w*)/.exec(path) ?? []
  return index === undefined ? undefined : { index: Number(index), part }
}

export type Issues = {
  /** The monitors that have no result of the conversation. */
  absent: string[]
  /** What is to be written, by the monitor. */
  notes: Record<string, string>
}

/** What a refusal says of judgments, in the order that they were sent; undefined where it says something else too. */
export const issuesOf = (error: unknown, judged: string[]): Issues | undefined => {
  const { issues } = asFault(error)
  const placed = issues.flatMap(({ path, message }) => {
    const place = judgmentAt(path)
    return place ? [{ id: judged[place.index] ?? '', isAbsent: place.part === 'monitorId', message }] : []
  })
  if (placed.length === 0 || placed.length < issues.length) return undefined
  const wanting = placed.filter(({ isAbsent }) => !isAbsent)
  return {
    absent: placed.filter(({ isAbsent }) => isAbsent).map(({ id }) => id),
    notes: Object.fromEntries(wanting.map(({ id, message }) => [id, `A note ${message}.`])),
  }
}
