/** Colours where people see them: on a terminal, unless NO_COLOR says no (https://no-color.org). */

export type Paint = (text: string, as: 'bold' | 'dim' | 'green' | 'red' | 'yellow') => string

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 }

/** Node's own check knows NO_COLOR, FORCE_COLOR and what the terminal can do. */
export const colour = (stream: NodeJS.WriteStream): Paint => {
  const has = stream.isTTY && stream.hasColors()
  return (text, as) => (has ? `\x1b[${codes[as]}m${text}\x1b[0m` : text)
}
