import type { Incoming } from '../conversations/ingest/incoming.ts'
import { dayMs } from '../platform/durations.ts'
import { type AgentPrompt, type Cast, cast } from './cast.ts'
import { openRandom, type Random } from './random.ts'
import { type Script, type ScriptLine, slots, voicemail } from './scripts.ts'

/**
 * Generates realistic conversations for the demo, tests, and benchmarks. The same seed, number, and anchor always
 * produce the same conversation.
 */

export type Maker = {
  seed: number
  /** The last conversation ends just before this time. */
  anchor: Date
  /** The number of days before the anchor that have conversations. */
  days: number
  companies: readonly { id: string; name: string }[]
}

/** Returns thirty days, or more if a day would otherwise have too many calls. */
export const daysFor = (calls: number): number => Math.min(300, Math.max(30, Math.ceil(calls / 3_000)))

/** The number of characters that a voice speaks per second. */
const pace = 15
/** Compared prompts run in parallel after this share of the days. */
const splitFrom = 0.65

const midnightBefore = (anchor: Date, days: number): number => (Math.floor(anchor.getTime() / dayMs) - days) * dayMs

/** Returns the start of the period in which two prompts run in parallel. It is always the start of a day. */
export const splitSince = (anchor: Date, calls: number): Date =>
  new Date(midnightBefore(anchor, Math.floor((1 - splitFrom) * daysFor(calls)) - 1))

export type DemoTurn = {
  role: 'agent' | 'customer' | 'tool'
  kind: 'message' | 'tool_call' | 'tool_result'
  text?: string
  startMs?: number
  endMs?: number
  interrupted?: boolean
  tool?: object
  latency?: { totalMs: number; modelMs: number }
}

const choose = (random: Random): Cast => {
  let left = random.next()
  for (const one of cast) {
    left -= one.share
    if (left < 0) return one
  }
  return cast[0]
}

/**
 * Returns the prompt that was used at a time. Prompts replace each other. If two prompts are compared, a customer
 * always gets the same one.
 */
const promptAt = ({ prompts, splits }: Cast, when: number, customer: number): AgentPrompt => {
  const split = splits && when > splitFrom
  const current = prompts.length - (splits ? 1 : 0)
  const at = split ? prompts.length - 2 + (customer % 2) : Math.min(Math.floor(when * current * 1.2), current - 1)
  return prompts[at] ?? prompts[0]
}

/** The maximum duration of a conversation. */
const longestMs = 3_600_000

/**
 * Returns the position in the period, from 0 to 1, and the start time. Most calls start during the day. A conversation
 * that might end after now moves to the day before the first one, so that the last day ends now.
 */
const drawTime = (random: Random, { anchor, days }: Maker): { when: number; startedAt: Date } => {
  const when = random.next()
  const day = Math.floor((1 - when) * days)
  const hour = random.chance(0.9) ? 8 + Math.floor(random.next() * 10) : random.int(0, 23)
  const time = hour * 3_600_000 + random.int(0, 3_599_999)
  const instant = midnightBefore(anchor, day) + time
  if (instant + longestMs <= anchor.getTime()) return { when, startedAt: new Date(instant) }
  return { when: 0, startedAt: new Date(midnightBefore(anchor, day + days) + time) }
}

const filler = (random: Random, company: string) => {
  const words: Record<string, string> = {
    company,
    order: String(random.int(10_000, 99_999)),
    amount: String(random.int(20, 400)),
    item: random.pick(slots.item),
    day: random.pick(slots.day),
    hour: random.pick(slots.hour),
    service: random.pick(slots.service),
    name: random.pick(slots.name),
  }
  return (text: string) => text.replace(/\{(\w+)\}/g, (whole, name: string) => words[name] ?? whole)
}

type Scene = { random: Random; fill: (text: string) => string; latencyMs: number; timed: boolean; chat: boolean }

type ToolLine = Extract<ScriptLine, { by: 't' }>
type SpokenLine = Exclude<ScriptLine, { by: 't' }>

/** Adds times to the lines one after the other, with pauses, interruptions, and tool durations. */
const perform = (lines: readonly ScriptLine[], scene: Scene): DemoTurn[] => {
  const { random, fill, timed } = scene
  const turns: DemoTurn[] = []
  let now = random.int(200, 900)
  let before: ScriptLine['by'] | undefined

  const callTool = (line: ToolLine, callId: string): void => {
    const took = Math.round(random.spread(400, 0.5))
    const failed = random.chance(0.03)
    const args = Object.fromEntries(Object.entries(line.arguments).map(([name, value]) => [name, fill(value)]))
    const call = { callId, name: line.tool, arguments: args }
    const result = failed ? { error: 'timeout' } : line.result
    turns.push({ role: 'agent', kind: 'tool_call', tool: call, ...(timed && { startMs: now }) })
    now += took
    const answer = { callId, name: line.tool, result, isError: failed }
    turns.push({ role: 'tool', kind: 'tool_result', tool: answer, ...(timed && { startMs: now }) })
  }

  const speak = (line: SpokenLine): void => {
    const text = fill(random.pick(line.say))
    const gap = drawGap(line, scene)
    const startMs = interrupts(line) ?? now + Math.round(gap)
    const endMs = startMs + Math.round((text.length / pace) * 1_000 * (0.9 + random.next() * 0.3))
    const answering = line.by === 'a' && before === 'c'
    turns.push({
      role: line.by === 'a' ? 'agent' : 'customer',
      kind: 'message',
      text,
      ...(timed && { startMs: Math.max(0, startMs) }),
      ...(timed && !scene.chat && { endMs }),
      ...(answering && timed && { latency: { totalMs: Math.round(gap), modelMs: Math.round(gap * 0.55) } }),
    })
    now = scene.chat ? startMs : endMs
  }

  /** Sometimes lets the customer start before the agent has finished. Returns the start time. */
  const interrupts = ({ by }: SpokenLine): number | undefined => {
    const talksOver = !scene.chat && by === 'c' && before === 'a' && random.chance(0.07)
    const last = turns.at(-1)
    if (!talksOver || !last) return undefined
    last.interrupted = true
    return last.endMs ? last.endMs - random.int(200, 900) : undefined
  }

  lines.forEach((line, at) => {
    if (line.by === 't') callTool(line, `tool_${at}`)
    else speak(line)
    before = line.by
  })
  return turns
}

const drawGap = ({ by }: SpokenLine, { random, latencyMs, chat }: Scene): number => {
  if (by === 'a') return random.spread(latencyMs, 0.35)
  return random.spread(chat ? 6_000 : 700, 0.5)
}

const voicemailTurns = (random: Random, fill: (text: string) => string): DemoTurn[] => {
  const text = fill(random.pick(voicemail))
  return [{ role: 'agent', kind: 'message', text, startMs: 1_200, endMs: 1_200 + text.length * 65 }]
}

/**
 * Returns the lines of a conversation. If the conversation goes badly, it leaves its script somewhere in the second
 * half.
 */
const linesOf = (random: Random, { lines, sour }: Script, isSour: boolean): readonly ScriptLine[] =>
  isSour ? [...lines.slice(0, random.int(Math.ceil(lines.length / 3), lines.length - 3)), ...sour] : lines

const channelOf = ({ isVoicemail, chat }: { isVoicemail: boolean; chat: boolean }) => {
  if (isVoicemail) return 'voicemail'
  return chat ? 'chat' : 'call'
}

const drawEndReason = (random: Random, { broke, isVoicemail }: { broke: boolean; isVoicemail: boolean }): string => {
  if (broke) return 'error'
  if (isVoicemail) return 'voicemail'
  return random.chance(0.7) ? 'customer-ended' : 'agent-ended'
}

const drawMetrics = (random: Random, isSour: boolean): Incoming['metrics'] => {
  if (!random.chance(0.25)) return []
  const value = isSour ? random.int(1, 3) : random.int(3, 5)
  return [{ key: 'csat', value, ...(isSour && { comment: 'From a text message survey' }) }]
}

export const makeConversation = (maker: Maker, number: number): Incoming => {
  const random = openRandom(maker.seed, number)
  const who = choose(random)
  const { when, startedAt } = drawTime(random, maker)
  const customer = random.int(1, 40_000)
  const { label, systemPrompt, sourShare, latencyMs } = promptAt(who, when, customer)
  const company = maker.companies.length > 0 ? random.pick(maker.companies) : undefined
  const fill = filler(random, company?.name ?? 'us')
  const chat = who.channel === 'text'
  const isVoicemail = who.outbound && random.chance(0.25)
  const isSour = !isVoicemail && random.chance(sourShare)
  const script = random.pick(who.scripts)
  const timed = random.chance(0.96)
  const turns = isVoicemail
    ? voicemailTurns(random, fill)
    : perform(linesOf(random, script, isSour), { random, fill, latencyMs, timed, chat })
  const lastMs = turns.reduce((latest, { startMs = 0, endMs = startMs }) => Math.max(latest, endMs), 0)
  const durationMs = (timed ? lastMs : turns.length * 4_000) + random.int(300, 2_500)
  const broke = random.chance(0.01)
  return {
    externalId: `demo-${maker.seed}-${number}`,
    agent: { externalId: who.externalId, make: { name: who.name, channel: who.channel } },
    version: { systemPrompt, label },
    companyId: company?.id ?? null,
    channel: channelOf({ isVoicemail, chat }),
    direction: who.outbound ? 'outbound' : 'inbound',
    status: broke ? 'failed' : 'completed',
    startedAt,
    endedAt: new Date(startedAt.getTime() + durationMs),
    durationSeconds: null,
    endReason: drawEndReason(random, { broke, isVoicemail }),
    customerId: `customer-${customer}`,
    metadata: {
      topic: script.topic,
      plan: random.pick(['basic', 'basic', 'plus', 'gold']),
      region: random.pick(['north', 'south', 'east', 'west']),
      attempt: random.int(1, 4),
      ...(random.chance(0.3) && { returning: random.chance(0.5) }),
    },
    transcript: turns,
    recordingUrl: null,
    metrics: drawMetrics(random, isSour),
  }
}
