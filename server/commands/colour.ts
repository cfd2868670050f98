/** Colors text for a terminal. NO_COLOR (https://no-color.org) turns colors off. */

export type Paint = (text: string, as: 'bold' | 'dim' | 'green' | 'red' | 'yellow') => string

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 }

/** Returns functions that color text. Node checks NO_COLOR, FORCE_COLOR, and the capabilities of the terminal. */
export const colour = (stream: NodeJS.WriteStream): Paint => {
  const has = stream.isTTY && stream.hasColors()
  return (text, as) => (has ? `\x1b[${codes[as]}m${text}\x1b[0m` : text)
}
