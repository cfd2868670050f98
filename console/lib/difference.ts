// Compares two texts word by word.

export type Piece = { kind: 'same' | 'removed' | 'added'; text: string }

/**
 * Splits a text into words with the whitespace before them. If whitespace were separate, it would match everywhere and
 * split the changes.
 */
const wordsOf = (text: string): string[] => text.match(/[^\S\n]*(?:[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_])|\s/gu) ?? []
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+/g) ?? []

/** If there are more comparisons than this, texts are compared line by line, or shown as completely replaced. */
const mostCells = 4_000_000

/** Returns the length of the longest common subsequence from each pair of positions to the ends. */
const lengthsOf = (before: string[], after: string[]): Uint32Array[] => {
  const rows = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1))
  for (let i = before.length - 1; i >= 0; i--) {
    const [row, next] = [rows[i] as Uint32Array, rows[i + 1] as Uint32Array]
    for (let j = after.length - 1; j >= 0; j--)
      row[j] = before[i] === after[j] ? (next[j + 1] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0)
  }
  return rows
}

const compare = (before: string[], after: string[]): Piece[] => {
  const lengths = lengthsOf(before, after)
  const lengthAt = (i: number, j: number) => lengths[i]?.[j] ?? 0
  const pieces: Piece[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]]
    if (old !== undefined && old === now) {
      pieces.push({ kind: 'same', text: old })
      i++
      j++
    } else if (old !== undefined && (now === undefined || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      pieces.push({ kind: 'removed', text: old })
      i++
    } else {
      pieces.push({ kind: 'added', text: now ?? '' })
      j++
    }
  }
  return pieces
}

/** Joins consecutive pieces of the same kind. */
const joined = (pieces: Piece[]): Piece[] =>
  pieces.reduce<Piece[]>((all, piece) => {
    const last = all.at(-1)
    if (last?.kind === piece.kind) last.text += piece.text
    else if (piece.text !== '') all.push({ ...piece })
    return all
  }, [])

/** Returns the length of the common start. */
const shared = (before: string[], after: string[]): number => {
  let count = 0
  while (count < before.length && before[count] === after[count]) count++
  return count
}

/** Skips the common start and end, and compares the rest at the finest granularity that isn't too slow. */
const differ = (before: string, after: string, [split, ...coarser]: ((text: string) => string[])[]): Piece[] => {
  if (!split)
    return [
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ]
  const [old, now] = [split(before), split(after)]
  const start = shared(old, now)
  const end = shared(old.slice(start).reverse(), now.slice(start).reverse())
  const [oldPart, nowPart] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  const between =
    oldPart.length * nowPart.length <= mostCells
      ? compare(oldPart, nowPart)
      : differ(oldPart.join(''), nowPart.join(''), coarser)
  const same = (texts: string[]): Piece => ({ kind: 'same', text: texts.join('') })
  return [same(old.slice(0, start)), ...between, same(old.slice(old.length - end))]
}

export const differenceOf = (before: string, after: string): Piece[] =>
  joined(differ(before, after, [wordsOf, linesOf]))
