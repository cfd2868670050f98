import type { TurnDraft } from '../draft.ts'
import { nestedJson } from '../json.ts'

/**
 * Finds the new messages in each model call. Each call repeats the history, either completely or starting at some
 * point. Tool calls are identified by ID regardless of position, because parallel calls end in any order.
 */

const plain = (value: unknown) => (typeof value === 'string' ? (nestedJson(value) ?? value) : value)

const keyOf = ({ role, kind, text, tool }: TurnDraft): string =>
  JSON.stringify([role, kind, text, tool?.name, plain(tool?.arguments), plain(tool?.result)])

/**
 * Returns how many of the last entries in `known` are repeated at the start of `keys`. Uses the linear algorithm by
 * Knuth, Morris and Pratt.
 */
const overlap = (known: string[], keys: string[]): number => {
  const failure = [0]
  const advance = (matched: number, key: string | undefined): number => {
    let length = matched
    while (length > 0 && (length === keys.length || keys[length] !== key)) length = failure[length - 1] ?? 0
    return keys[length] === key ? length + 1 : length
  }
  for (let index = 1; index < keys.length; index += 1) failure.push(advance(failure[index - 1] ?? 0, keys[index]))
  return known.slice(-keys.length).reduce(advance, 0)
}

const countKnown = (known: string[], keys: string[]): number => {
  if (keys.length === 0) return 0
  const differs = keys.findIndex((key, index) => key !== known[index])
  if (differs === -1) return keys.length
  return differs === known.length ? differs : overlap(known, keys)
}

const isTool = ({ tool }: TurnDraft) => typeof tool?.callId === 'string'
const isInstruction = ({ role }: TurnDraft) => role === 'system'

export const conversation = () => {
  const drafts: TurnDraft[] = []
  const known: string[] = []
  const instructions = new Set<string>()
  const tools = new Map<string, TurnDraft>()

  const isNewTool = (draft: TurnDraft): boolean => {
    const id = `${draft.kind} ${draft.tool?.callId}`
    const before = tools.get(id)
    // The model requests a tool before the tool runs, but only the run has a time.
    if (before) before.startMs ??= draft.startMs ?? null
    else tools.set(id, draft)
    return !before
  }

  const isNewInstruction = ({ text }: TurnDraft): boolean => {
    const isNew = !instructions.has(text ?? '')
    instructions.add(text ?? '')
    return isNew
  }

  const add = (history: TurnDraft[]): void => {
    const keys = history.filter((draft) => !isTool(draft) && !isInstruction(draft)).map(keyOf)
    let repeated = countKnown(known, keys)
    known.push(...keys.slice(repeated))
    const isNew = (draft: TurnDraft): boolean => {
      if (isTool(draft)) return isNewTool(draft)
      if (isInstruction(draft)) return isNewInstruction(draft)
      repeated -= 1
      return repeated < 0
    }
    drafts.push(...history.filter(isNew))
  }

  return { add, drafts }
}
