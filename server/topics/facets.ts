// Finds what happens in a conversation, with rules and patterns only: what the customer asks for first, unanswered
// questions, complaints, apologies, tool failures, and how the conversation ends. All quotes are parts of their turns.
// Word patterns are in English. Everything else works in any language. Pure.

import { passagesOf } from '../embeddings/passages.ts'
import type { Turn } from '../transcripts/turn.ts'

export const endings = ['transferred', 'gave_up', 'waiting', 'thanked', 'other'] as const
type Ending = (typeof endings)[number]

export type Quote = { turn: number; text: string }

export type ToolFailure = {
  turn: number
  tool: string | null
  /** What the agent says about the failure. */
  apology: Quote | null
  /** Whether the agent calls the tool again later. */
  isRetried: boolean
}

export type Facets = {
  request: Quote | null
  unanswered: Quote[]
  complaints: Quote[]
  apologies: Quote[]
  toolFailures: ToolFailure[]
  /** Null without a message. */
  ending: Ending | null
}

const mostQuotes = 5
const longestQuote = 200

/** Consecutive messages from one side. */
type Block = { isCustomer: boolean; turns: { index: number; text: string }[] }

const asking =
  /[?？¿؟]|\b(can|could|would|will) (you|i|we)\b|\b(i|we)('d| would) like\b|\b(i|we) (want|need)\b|\bplease\b/i

const complaining = new RegExp(
  [
    "\\b(not|isn't|isn’t|doesn't|doesn’t|never) (work|working|acceptable|good enough|fair|true|right)\\b",
    '\\b(unacceptable|ridiculous|terrible|horrible|awful|useless|disappoint\\w*|frustrat\\w*|annoy\\w*|angry|furious)\\b',
    '\\b(complain\\w*|lawyer|sue|scam|rip.?off|waste of (time|money)|nobody (calls|called|answers|answered|helps))\\b',
    '\\bstill (waiting|not|no|haven|hasn|didn|don)',
    '\\b(second|third|fourth|fifth|tenth) time\\b|\\b(how many times|again and again|over and over)\\b',
    '\\b(speak|talk) to (a |your )?(manager|supervisor|real person|human)\\b|\\bstop (calling|asking)\\b',
  ].join('|'),
  'i',
)

const apologizing = /\b(sorry|apologi[sz]e|apologies|my mistake|unfortunately|i('|’)m afraid|regret)\b/i

const refusing =
  /\b(can('|’)?t|cannot|can not|unable to|not able to|don('|’)t know|not sure|don('|’)t have (that|access|any))\b/i

const givingUp =
  /\b(forget it|never ?mind|don('|’)t have time|(try|call) (again )?(later|another time|back)|hang(ing)? up|give up)\b/i

const thanking =
  /\b(thank\w*|thx|perfect|great|wonderful|that('|’)s all|all set|good ?bye|bye|have a (nice|good|great))\b/i

/** Returns the sentence that contains a match, exactly as in the text. */
const quoteAround = (text: string, at: number): string => {
  // The sentence starts after the end of the previous one.
  const ends = [...text.slice(0, at).matchAll(/[.!?。！？](?=\s)|\n/g)]
  const start = (ends.at(-1)?.index ?? -1) + 1
  const rest = text.slice(start)
  const [sentence = ''] = /^[\s\S]*?[.!?。！？](?=\s|$)|^[\s\S]*$/.exec(rest) ?? []
  return Array.from(sentence.trim()).slice(0, longestQuote).join('').trim()
}

const quotesOf = (turns: Block['turns'], pattern: RegExp): Quote[] =>
  turns.flatMap(({ index, text }) => {
    const match = pattern.exec(text)
    return match ? [{ turn: index, text: quoteAround(text, match.index) }] : []
  })

const isMessage = ({ kind, text }: Turn): boolean => kind === 'message' && text !== null && text.trim() !== ''

const sides = new Map<Turn['role'], boolean>([
  ['customer', true],
  ['other', true],
  ['agent', false],
  ['human_agent', false],
])

const blocksOf = (turns: Turn[]): Block[] => {
  const blocks: Block[] = []
  for (const turn of turns) {
    const isCustomer = sides.get(turn.role)
    if (isCustomer === undefined || !isMessage(turn)) continue
    const last = blocks.at(-1)
    const said = { index: turn.index, text: turn.text ?? '' }
    if (last?.isCustomer === isCustomer) last.turns.push(said)
    else blocks.push({ isCustomer, turns: [said] })
  }
  return blocks
}

const longWords = (turns: Block['turns']): Set<string> =>
  new Set(turns.flatMap(({ text }) => text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []))

/**
 * The minimum number of shared words that shows a repeated question. Shorter messages are too often equal by chance.
 */
const leastShared = 3

const isRepeated = (block: Block, later: Block[]): boolean => {
  const words = longWords(block.turns)
  if (words.size < leastShared) return false
  return later.some((other) => {
    if (!other.isCustomer) return false
    const shared = [...longWords(other.turns)].filter((word) => words.has(word)).length
    return shared >= leastShared && shared >= 0.6 * words.size
  })
}

/** Returns the customer's unanswered questions: nobody replies, the reply is a refusal, or the customer asks again. */
const unansweredIn = (blocks: Block[]): Quote[] =>
  blocks.flatMap((block, at) => {
    if (!block.isCustomer) return []
    const [question] = quotesOf(block.turns, asking)
    const reply = blocks[at + 1]
    if (!question) return []
    const isRefused = reply !== undefined && quotesOf(reply.turns, refusing).length > 0
    return !reply || isRefused || isRepeated(block, blocks.slice(at + 1)) ? [question] : []
  })

/** The number of turns after a failure in which the agent's reaction is searched for. */
const turnsToApologize = 3

const failuresIn = (turns: Turn[]): ToolFailure[] =>
  turns.flatMap((turn, at) => {
    if (turn.kind !== 'tool_result' || turn.tool?.isError !== true) return []
    const { callId, name } = turn.tool
    const call = turns.find(({ kind, tool }) => kind === 'tool_call' && callId !== null && tool?.callId === callId)
    const tool = name ?? call?.tool?.name ?? null
    const later = turns.slice(at + 1)
    const said = later
      .slice(0, turnsToApologize)
      .flatMap((each) =>
        each.role === 'agent' && isMessage(each) ? [{ index: each.index, text: each.text ?? '' }] : [],
      )
    return [
      {
        turn: turn.index,
        tool,
        apology: quotesOf(said, apologizing)[0] ?? null,
        isRetried: tool !== null && later.some((each) => each.kind === 'tool_call' && each.tool?.name === tool),
      },
    ]
  })

const endingOf = (turns: Turn[], blocks: Block[]): Ending | null => {
  const last = blocks.at(-1)
  if (!last) return null
  if (turns.some((turn) => turn.role === 'human_agent' && isMessage(turn))) return 'transferred'
  const words = blocks.findLast(({ isCustomer }) => isCustomer)?.turns ?? []
  if (quotesOf(words, givingUp).length > 0 || quotesOf(words, complaining).length > 0) return 'gave_up'
  if (quotesOf(words, thanking).length > 0) return 'thanked'
  return last.isCustomer && quotesOf(words, asking).length > 0 ? 'waiting' : 'other'
}

/** Returns the facets of a conversation, with at most five quotes of each kind. */
export const facetsOf = (turns: Turn[]): Facets => {
  const blocks = blocksOf(turns)
  const saidBy = (isCustomer: boolean) =>
    blocks.filter((block) => block.isCustomer === isCustomer).flatMap((block) => block.turns)
  const [first] = passagesOf(turns)
  return {
    request: first
      ? { turn: first.firstTurn, text: Array.from(first.text).slice(0, longestQuote).join('').trim() }
      : null,
    unanswered: unansweredIn(blocks).slice(0, mostQuotes),
    complaints: quotesOf(saidBy(true), complaining).slice(0, mostQuotes),
    apologies: quotesOf(saidBy(false), apologizing).slice(0, mostQuotes),
    toolFailures: failuresIn(turns).slice(0, mostQuotes),
    ending: endingOf(turns, blocks),
  }
}
