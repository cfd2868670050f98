export const print = (text: string) => process.stdout.write(`${text}\n`)

let failures = 0

export const failedCount = () => failures

type Bound = { atMost: number } | { atLeast: number }

/** Prints a figure, and whether it is within its limit. */
export const judge = (name: string, value: number, bound: Bound, unit = ' times'): void => {
  const [limit, words] = 'atMost' in bound ? [bound.atMost, 'at most'] : [bound.atLeast, 'at least']
  const holds = 'atMost' in bound ? value <= limit : value >= limit
  if (!holds) failures++
  print(`  ${holds ? 'holds' : 'FAILS'}  ${name}: ${value.toFixed(2)}${unit} (${words} ${limit})`)
}

export const millisecondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
