import { Wrench } from 'lucide-react'
import type { MouseEvent } from 'react'
import { formatClock, formatMs } from '../lib/format.ts'
import { type Mark, partsOf, slowMs, speakerOf, type Turn } from './timeline.ts'
import styles from './turn-lines.module.css'

/** Keeps the focus unchanged on a mouse click, so that space still plays and pauses. */
export const keepFocus = (event: MouseEvent) => event.preventDefault()

export type LineContext = { waits: Map<number, number>; marks: Mark[]; onTurn: (turn: number) => void }

const sides: Record<Turn['role'], string | undefined> = {
  agent: styles.agent,
  customer: styles.customer,
  system: styles.other,
  tool: styles.other,
  human_agent: styles.other,
  other: styles.other,
}

const At = ({ turn, onTurn }: { turn: Turn } & Pick<LineContext, 'onTurn'>) =>
  turn.startMs === null ? (
    <span className={styles.at} />
  ) : (
    <button
      type="button"
      className={styles.at}
      tabIndex={-1}
      aria-label={`Go to ${formatClock(turn.startMs / 1_000)}`}
      onMouseDown={keepFocus}
      onClick={() => onTurn(turn.index)}
    >
      {formatClock(turn.startMs / 1_000)}
    </button>
  )

const widest = 4_000

/** Shows the response time of this turn. */
const Wait = ({ turn, ms }: { turn: Turn; ms: number | undefined }) => {
  if (ms === undefined) return <span className={styles.wait} />
  const parts = partsOf(turn).map(([name, part]) => `${name} ${formatMs(part)}`)
  const words = `Response time ${formatMs(ms)}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`
  return (
    <span className={ms >= slowMs ? `${styles.wait} ${styles.slow}` : styles.wait} title={words}>
      <span className={styles.bar} style={{ width: `${Math.min(1, ms / widest) * 100}%` }} />
      <span className={styles.ms}>
        <span className={styles.hidden}>response time </span>
        {formatMs(ms)}
        {ms >= slowMs && <span className={styles.hidden}>, slow</span>}
      </span>
    </span>
  )
}

/** Shows the turn's text. The words that monitors cite are highlighted. */
const Words = ({ turn, marks }: { turn: Turn; marks: Mark[] }) => {
  const text = turn.text ?? ''
  const lower = text.toLowerCase()
  const spans = marks
    .filter((mark) => mark.turn === turn.index && mark.quote !== '')
    .map(({ quote, affected }) => ({ from: lower.indexOf(quote.toLowerCase()), length: quote.length, affected }))
    .filter(({ from }) => from >= 0)
    .sort((a, b) => a.from - b.from)
  let done = 0
  return (
    <>
      {spans.flatMap(({ from, length, affected }) => {
        if (from < done) return []
        const before = text.slice(done, from)
        done = from + length
        return [
          before,
          <mark key={from} className={affected ? styles.affected : styles.marked}>
            {text.slice(from, done)}
          </mark>,
        ]
      })}
      {text.slice(done)}
      {turn.interrupted && <span className={styles.cut}> (interrupted)</span>}
    </>
  )
}

export const Message = ({ turn, speaker, waits, marks, onTurn }: LineContext & { turn: Turn; speaker: boolean }) => (
  <div className={styles.line} data-said={turn.index}>
    <At turn={turn} onTurn={onTurn} />
    <div className={`${styles.said} ${sides[turn.role]}`}>
      {/* Screen readers can't see the edge that marks an interrupted turn. */}
      <span className={speaker ? styles.speaker : styles.hidden}>{speakerOf(turn)}</span>
      <p>
        <Words turn={turn} marks={marks} />
      </p>
    </div>
    <Wait turn={turn} ms={waits.get(turn.index)} />
  </div>
)

/** Shows overlapping turns, side by side. */
export const Overlap = ({ turns, waits, marks, onTurn }: LineContext & { turns: Turn[] }) => {
  const [first] = turns
  if (!first) return null
  const slowest = turns.find(({ index }) => waits.has(index)) ?? first
  return (
    <div className={styles.line}>
      <At turn={first} onTurn={onTurn} />
      <div className={styles.both}>
        {turns.map((turn) => (
          <div key={turn.index} className={`${styles.said} ${sides[turn.role]}`} data-said={turn.index}>
            <span className={styles.speaker}>
              {speakerOf(turn)}
              {turn !== first && turn.startMs !== null && (
                <span className={styles.over}> overlaps at {formatClock(turn.startMs / 1_000)}</span>
              )}
            </span>
            <p>
              <Words turn={turn} marks={marks} />
            </p>
          </div>
        ))}
      </div>
      <Wait turn={slowest} ms={waits.get(slowest.index)} />
    </div>
  )
}

const json = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

const Part = ({ name, value }: { name: string; value: unknown }) => (
  <div>
    <span className={styles.speaker}>{name}</span>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
    <pre tabIndex={0}>{json(value)}</pre>
  </div>
)

export const ToolLine = ({ call, result, onTurn }: LineContext & { call: Turn; result: Turn | undefined }) => {
  const answer = result ?? (call.kind === 'tool_result' ? call : undefined)
  const took = result?.startMs != null && call.startMs !== null ? result.startMs - call.startMs : undefined
  const failed = answer?.tool?.isError === true
  return (
    <div className={styles.line}>
      <At turn={call} onTurn={onTurn} />
      <details className={styles.tool}>
        <summary>
          <Wrench aria-hidden="true" />
          <code>{call.tool?.name ?? answer?.tool?.name ?? 'tool'}</code>
          {took !== undefined && <span className={styles.took}>{formatMs(took)}</span>}
          {failed && <span className={styles.failed}>failed</span>}
          {!answer && <span className={styles.took}>no result</span>}
        </summary>
        <div className={styles.parts}>
          {call.tool?.arguments != null && <Part name="Arguments" value={call.tool.arguments} />}
          {answer && <Part name="Result" value={answer.tool?.result ?? answer.text ?? null} />}
        </div>
      </details>
      <span className={styles.wait} />
    </div>
  )
}

/** Shows an event or a system message. */
export const AsideLine = ({ turn, onTurn }: LineContext & { turn: Turn }) => {
  const text = turn.text ?? ''
  return (
    <div className={styles.line}>
      <At turn={turn} onTurn={onTurn} />
      {text.length > 160 ? (
        <details className={styles.tool}>
          <summary>
            <span className={styles.took}>{speakerOf(turn)}</span>
            <span className={styles.start}>{text.slice(0, 120)}…</span>
          </summary>
          <p className={styles.whole}>{text}</p>
        </details>
      ) : (
        <p className={styles.aside}>
          {turn.kind === 'event' ? 'Event' : speakerOf(turn)}: {text}
        </p>
      )}
      <span className={styles.wait} />
    </div>
  )
}
