// Parses `npm run faults -- --rounds 100`, or `--seed 4711` to repeat a round. `--seed` can be repeated, and other
// options are passed to vitest.
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseCLI, startVitest } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The number of rounds, which is 2 in CI. */
    rounds: number
    /** The seed of each round, in order. */
    seeds: number[]
  }
}

const ownOptions = { rounds: { type: 'string', default: '2' }, seed: { type: 'string', multiple: true } } as const
const { tokens = [], values } = parseArgs({ options: ownOptions, strict: false, allowPositionals: true, tokens: true })

const wholeOf = (name: keyof typeof ownOptions, text: string | boolean): number => {
  const number = Number(text)
  if (typeof text === 'string' && Number.isSafeInteger(number) && number >= 1) return number
  process.stderr.write(`--${name}: ${text} does not fit; expected a whole number from 1\n`)
  process.exit(2)
}

const { rounds: asked = '2', seed: given = [] } = values
const rounds = wholeOf('rounds', asked)
const chosen = given.map((text) => wholeOf('seed', text))
const turn = randomInt(2)
/** Seeds are alternately even and odd, so that each kind of storage gets half of the rounds. */
const drawn = () => Array.from({ length: rounds }, (_, at) => 2 * randomInt(1, 2 ** 31) + ((at + turn) % 2))
const seeds = chosen.length > 0 ? chosen : drawn()

/** Other options are passed to vitest. */
const own = new Set(
  tokens.flatMap((token) => {
    if (token.kind !== 'option' || !Object.hasOwn(ownOptions, token.name)) return []
    return token.inlineValue ? [token.index] : [token.index, token.index + 1]
  }),
)
const others = process.argv.slice(2).filter((_, index) => !own.has(index))
const { filter, options } = parseCLI(['vitest', 'run', ...others])

const vitest = await startVitest(chosen.length > 0 && filter.length === 0 ? ['rounds'] : filter, {
  ...options,
  config: join(import.meta.dirname, 'vitest.config.ts'),
  provide: { rounds, seeds },
})
await vitest.exit()
