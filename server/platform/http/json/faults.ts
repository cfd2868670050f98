import type { Issue } from '../../errors.ts'

/** Where a JSON text, which is known to be sound, repeats a name or writes a whole number that cannot be kept. */

type Level = { names: Set<string> | undefined; name: string; index: number }

const token = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],:]/gs

const pathOf = (levels: Level[]): string =>
  levels.reduce((path, { names, name, index }) => {
    if (names === undefined) return `${path}[${index}]`
    return path === '' ? name : `${path}.${name}`
  }, '')

/** Whether a whole number would not come back with the digits that were sent. */
const isInexact = (text: string): boolean => {
  if (!/^-?\d+$/.test(text)) return false
  const number = Number(text)
  return !Number.isSafeInteger(number) && String(number) !== text
}

type Options = {
  most: number
  /** Whether a whole number that is written here has to be kept as it is. */
  keepsIntegers: (path: string) => boolean
}

export const findFaults = (text: string, { most, keepsIntegers }: Options): Issue[] => {
  const issues: Issue[] = []
  const levels: Level[] = []
  let isName = false
  const enter = (names: Level['names']) => {
    levels.push({ names, name: '', index: 0 })
    isName = names !== undefined
  }
  const readName = (level: Level, written: string) => {
    level.name = JSON.parse(written)
    if (level.names?.has(level.name)) issues.push({ path: pathOf(levels), message: 'is repeated' })
    level.names?.add(level.name)
    isName = false
  }
  for (const [part] of text.matchAll(token)) {
    const level = levels.at(-1)
    if (part === '{') enter(new Set())
    else if (part === '[') enter(undefined)
    else if (part === '}' || part === ']') {
      levels.pop()
      isName = false
    } else if (part === ',') {
      if (level) level.index++
      isName = level?.names !== undefined
    } else if (isName && level && part.startsWith('"')) readName(level, part)
    else if (/^[-\d]/.test(part) && isInexact(part)) {
      const path = pathOf(levels)
      if (keepsIntegers(path)) {
        issues.push({ path, message: 'has more digits than a number keeps; send it as text' })
      }
    }
    if (issues.length >= most) break
  }
  return issues
}
