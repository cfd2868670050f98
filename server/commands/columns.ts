/**
 * Prints the output of commands: columns for people, JSON for programs. Each function returns the exit code of a
 * finished command.
 */

export const print = (text: string): number => {
  process.stdout.write(text)
  return 0
}

export const printJson = (value: unknown): number => print(`${JSON.stringify(value, null, 2)}\n`)

const segmenter = new Intl.Segmenter()
/** Returns the approximate width of text on a terminal: one column per character, ignoring color codes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: color codes start with a control character.
const widthOf = (cell: string): number => [...segmenter.segment(cell.replaceAll(/\x1b\[\d*m/g, ''))].length

/** Removes control characters, because other people's names and text must not control the terminal. */
export const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')

export const plainLines = (text: string): string => text.split('\n').map(plain).join('\n')

/** Aligns cells in columns. Columns in `right`, which contain numbers, are right-aligned. */
export const columns = (rows: string[][], right: number[] = []): string => {
  const widths = rows.reduce<number[]>((all, row) => row.map((cell, at) => Math.max(all[at] ?? 0, widthOf(cell))), [])
  return rows
    .map((row) => {
      const cells = row.map((cell, at) => {
        const gap = ' '.repeat((widths[at] ?? 0) - widthOf(cell))
        return right.includes(at) ? gap + cell : cell + gap
      })
      return `${cells.join('  ').trimEnd()}\n`
    })
    .join('')
}

export const day = (instant: string): string => instant.slice(0, 10)
