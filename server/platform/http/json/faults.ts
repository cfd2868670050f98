import type { Issue } from '../../errors.ts'

/** Finds names that are repeated in valid JSON, and integers that can't be represented. */

type Level = { names: Set<string> | undefined; name: string; index: number }

const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],:]/gs

const pathOf = (levels: Level[]): string =>
  levels.reduce((path, { names, name, index }) => {
    if (names === undefined) return `${path}[${index}]`
    return path === '' ? name : `${path}.${name}`
  }, '')

/** Returns whether an integer would lose digits. */
const isInexact = (text: string): boolean => {
  if (!/^-?\d+$/.test(text)) return false
  const number = Number(text)
  return !Number.isSafeInteger(number) && String(number) !== text
}

type Options = {
  most: number
  /** Returns whether an integer at this path must keep all its digits. */
  keepsIntegers: (path: string) => boolean
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: this is a list of tokens, each with its effect
export const findFaults = (text: string, { most, keepsIntegers }: Options): Issue[] => {
  const issues: Issue[] = []
  const levels: Level[] = []
  let isName = false
  const enter = (names: Level['names']) => {
    levels.push({ names, name: '', index: 0 })
    isName = names !== undefined
  }
  const leave = () => {
    levels.pop()
    isName = false
  }
  const goToNext = () => {
    const level = levels.at(-1)
    if (level) level.index++
    isName = level?.names !== undefined
  }
  const readName = (written: string) => {
    const level = levels.at(-1)
    if (!isName || !level) return
    level.name = JSON.parse(written)
    if (level.names?.has(level.name)) issues.push({ path: pathOf(levels), message: 'is repeated' })
    level.names?.add(level.name)
    isName = false
  }
  const readNumber = (written: string) => {
    if (!isInexact(written)) return
    const path = pathOf(levels)
    if (keepsIntegers(path))
      issues.push({ path, message: 'has more digits than a JSON number can represent; send it as a string' })
  }
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{') enter(new Set())
    else if (token === '[') enter(undefined)
    else if (token === '}' || token === ']') leave()
    else if (token === ',') goToNext()
    else if (token.startsWith('"')) readName(token)
    else if (token !== ':') readNumber(token)
    if (issues.length >= most) break
  }
  return issues
}
