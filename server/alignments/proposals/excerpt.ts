import { storable } from '../../monitors/judges/text.ts'
import { contentOf } from '../../monitors/judges/transcript.ts'
import { redact } from '../../transcripts/redaction.ts'
import type { Turn } from '../../transcripts/turn.ts'

const longestExcerpt = 800
const longestTurn = 300

/** Removes personal numbers and addresses from text, and shortens it. */
export const redacted = (text: string, length: number): string => storable(String(redact(text)), length)

const lineOf = (turn: Turn): string => {
  const content = contentOf(turn).replace(/\s+/gu, ' ').trim()
  return content === '' ? '' : `${turn.role}: ${redacted(content, longestTurn)}`
}

/** Returns the turns around a given turn, or otherwise the last turns, without personal numbers and addresses. */
export const excerptAround = (turns: readonly Turn[], around: number | undefined): string => {
  const lines = turns.map((turn) => ({ index: turn.index, text: lineOf(turn) })).filter(({ text }) => text !== '')
  const found = lines.findIndex(({ index }) => index === around)
  let from = found < 0 ? lines.length - 1 : found
  let to = from
  let length = lines[from]?.text.length ?? 0
  for (let isLonger = true; isLonger; ) {
    isLonger = false
    for (const at of [from - 1, to + 1]) {
      const line = lines[at]
      if (!line || length + line.text.length + 1 > longestExcerpt) continue
      length += line.text.length + 1
      if (at < from) from = at
      else to = at
      isLonger = true
    }
  }
  return lines
    .slice(Math.max(0, from), to + 1)
    .map(({ text }) => text)
    .join('\n')
}
