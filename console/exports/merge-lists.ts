type Row = { createdAt: string }

type Loaded<T> = { rows: T[] | undefined; more: unknown }

/**
 * Returns the rows of several lists, newest first. If a list has more rows than it has loaded, older rows of the others
 * wait, because those may come before them.
 */
export const mergeLists = <T extends Row>(lists: Loaded<T>[]): T[] => {
  const ends = lists.map(({ rows, more }) => (more ? (rows?.at(-1)?.createdAt ?? '') : ''))
  const end = ends.sort().at(-1) ?? ''
  return lists
    .flatMap(({ rows }) => rows ?? [])
    .filter(({ createdAt }) => createdAt >= end)
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
}
