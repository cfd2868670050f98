import type { Reader, TurnDraft } from '../draft.ts'
import { knownRole } from '../roles.ts'
import type { TurnRole } from '../turn.ts'

/**
 * Reads plain text with speakers' names at the start of lines: `Agent: …`, `**Customer:** …`, `[00:12] Bot: …`, `AI
 * (1:02:03): …`. A line without a name continues the previous turn. Only common names of roles count, so `Note: …` is
 * speech. A text without such lines is one turn without a speaker.
 */

const clock = String.raw`[[(]?(\d{1,2}(?::\d{2}){1,2}(?:[.,]\d{1,3})?)[\])]?`
const line = new RegExp(
  String.raw`^\s{0,20}(?:${clock}\s{0,3}[-–—]?\s{0,3})?(?:\*{2}|__)?([\p{L}][\p{L}_ -]{0,30}?)(?:\s?#?\d{1,2})?\s?(?:${clock})?` +
    String.raw`(?:\*{2}|__)?\s?[:：](?:\*{2}|__)?\s?(.*)$`,
  'su',
)

/**
 * If the first timestamp is larger than this, it is a time of day, or the text is an excerpt. In both cases, it is not
 * a time from the start.
 */
const latestFirstMs = 5 * 60_000

const clockMs = (text: string): number => {
  const seconds = text
    .replace(',', '.')
    .split(':')
    .reduce((total, part) => total * 60 + Number(part), 0)
  return seconds * 1_000
}

type SpokenText = { role: TurnRole; startMs: number | null; lines: string[] }

const sayings = (text: string): SpokenText[] => {
  const spoken: SpokenText[] = []
  for (const written of text.split(/\r\n|\r|\n/)) {
    const [, before, name, after, speech = ''] = line.exec(written) ?? []
    const role = name === undefined ? undefined : knownRole(name)
    const stamp = before ?? after
    const last = spoken.at(-1)
    if (role) spoken.push({ role, startMs: stamp === undefined ? null : clockMs(stamp), lines: [speech] })
    else if (last) last.lines.push(written)
    else if (written.trim() !== '') spoken.push({ role: 'other', startMs: null, lines: [written] })
  }
  return spoken
}

function* read(text: string): Generator<TurnDraft> {
  const spoken = sayings(text)
  const first = spoken.find(({ startMs }) => startMs !== null)?.startMs ?? 0
  for (const { role, startMs, lines } of spoken) {
    const kind = role === 'tool' ? 'event' : 'message'
    yield { role, kind, text: lines.join('\n').trim(), startMs: first > latestFirstMs ? null : startMs }
  }
}

export const readPlainText: Reader = (content) =>
  typeof content === 'string' && content.trim() !== '' ? read(content) : undefined
