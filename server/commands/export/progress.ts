const width = 24
const everyMs = 100

const bar = (share: number): string => {
  const full = Math.round(Math.min(1, share) * width)
  return `${'█'.repeat(full)}${'░'.repeat(width - full)} ${String(Math.floor(Math.min(1, share) * 100)).padStart(3)} %`
}

export type Progress = {
  /** Without a total it counts alone. */
  show: (label: string, done: number, total: number | undefined) => void
  /** Leaves the line for what comes after. */
  end: () => void
}

/** One line that renews itself on a terminal; nothing elsewhere. */
export const openProgress = (quiet: boolean): Progress => {
  const { stderr } = process
  if (quiet || !stderr.isTTY) return { show: () => {}, end: () => {} }
  let shownAt = 0
  let isShown = false
  return {
    show: (label, done, total) => {
      const now = performance.now()
      if (now - shownAt < everyMs && done !== total) return
      shownAt = now
      isShown = true
      const counted = total === undefined ? '' : `${bar(total === 0 ? 1 : done / total)}  `
      stderr.write(`\r\x1b[K${label.padEnd(12)}${counted}${done.toLocaleString('en')}`)
    },
    end: () => {
      if (isShown) stderr.write('\r\x1b[K')
      isShown = false
    },
  }
}
