const width = 24
const everyMs = 100
const lineEveryMs = 5_000

const bar = (share: number): string => {
  const full = Math.round(Math.min(1, share) * width)
  return `${'█'.repeat(full)}${'░'.repeat(width - full)} ${String(Math.floor(Math.min(1, share) * 100)).padStart(3)}%`
}

export type ProgressLine = {
  /** Shows the progress. If the total is unknown, shows only the count. `told` replaces the count. */
  show: (label: string, done: number, total: number | undefined, told?: string) => void
  /** Ends the line, so that other output can follow. */
  end: () => void
}

type Options = {
  /** Prints a line every few seconds if the output is not a terminal. */
  lines?: boolean
}

/** Shows progress on a line that is updated in place on a terminal. */
export const openProgress = (quiet: boolean, { lines = false }: Options = {}): ProgressLine => {
  const { stderr } = process
  const isTerminal = stderr.isTTY
  if (quiet || !(isTerminal || lines)) return { show: () => {}, end: () => {} }
  let shownAt = isTerminal ? 0 : performance.now()
  let isShown = false
  const renewLine = (label: string, share: number | undefined, text: string): void => {
    const line = `${label.padEnd(12)}${share === undefined ? '' : `${bar(share)}  `}${text}`
    // Text that is wider than the terminal would wrap, and the next update would not erase all of it.
    stderr.write(`\r\x1b[K${line.slice(0, (stderr.columns || 80) - 1)}`)
  }
  const addLine = (label: string, share: number | undefined, text: string): void => {
    stderr.write(`${label} ${text}${share === undefined ? '' : ` (${Math.floor(share * 100)} %)`}\n`)
  }
  return {
    show: (label, done, total, told = done.toLocaleString('en')) => {
      const now = performance.now()
      if (now - shownAt < (isTerminal ? everyMs : lineEveryMs) && (done !== total || !isTerminal)) return
      shownAt = now
      isShown = isTerminal
      const share = total && done / total
      const draw = isTerminal ? renewLine : addLine
      draw(label, total === 0 ? 1 : share, told)
    },
    end: () => {
      if (isShown) stderr.write('\r\x1b[K')
      isShown = false
    },
  }
}
