type Row = { createdAt: string }

type Loaded<T> = { rows: T[] | undefined; more: unknown }

/**
 * Returns the rows of several lists, newest first. If a list has more rows to load, older rows from the other lists
 * wait, because its next rows may come before them.
 */
export const mergeLists = <T extends Row>(lists: Loaded<T>[]): T[] => {
  const ends = lists.map(({ rows, more }) => (more ? (rows?.at(-1)?.createdAt ?? '') : ''))
  const end = ends.sort().at(-1) ?? ''
  return lists
    .flatMap(({ rows }) => rows ?? [])
    .filter(({ createdAt }) => createdAt >= end)
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
}
