/** Returns the range that an error message refers to, or undefined if it names no position. */
export const errorRange = (text: string, problem: string): [start: number, end: number] | undefined => {
  const [, line, column] = /line (\d+), column (\d+)/.exec(problem) ?? []
  if (!line || !column) return undefined
  const before = text.split('\n').slice(0, Number(line) - 1)
  const start = before.reduce((sum, { length }) => sum + length + 1, 0) + Number(column) - 1
  const word = /^[\w.]+/.exec(text.slice(start))?.[0].length ?? 1
  // If the text ends unexpectedly, its last character is marked.
  return start >= text.length ? [Math.max(0, text.length - 1), text.length] : [start, start + word]
}
