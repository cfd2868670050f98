// Shares a number of slots between owners, which take turns.
import { ApiError } from './errors.ts'

export type Wish = {
  /** When this aborts, the request leaves the queue, and `enter` rejects with its reason. */
  signal?: AbortSignal | undefined
  /** Lets all other requests of the same owner go first. */
  background?: boolean | undefined
}

export type TurnsOptions = {
  /** The maximum number of slots for one owner. By default, an owner can have all of them. */
  perOwner?: number
  /**
   * The maximum number of waiting requests for all owners together. An owner only gets another position in the queue
   * while more are free than it has, so a single owner fills half of the queue, and another one can still enter.
   */
  line?: number
}

export type Turns = {
  /** Resolves with a function that frees the slot. Rejects if the queue is full. */
  enter: (owner: string, wish?: Wish) => Promise<() => void>
  /** Returns whether another owner with fewer slots is waiting. */
  isWanted: (owner: string) => boolean
  /** Rejects all requests in the queue with this error. */
  close: (reason: Error) => void
}

type Waiting = { give: () => void; reject: (reason: unknown) => void }
type WaitingLine = { first: Set<Waiting>; last: Set<Waiting> }

const lineIsFull = () =>
  new ApiError('unavailable', 'Too many requests of this kind are waiting. Try again in a moment.', {
    retryAfterSeconds: 2,
  })

const firstOf = ({ first, last }: WaitingLine): Waiting | undefined => {
  const [waiting] = first.size > 0 ? first : last
  return waiting
}

const countWaiting = (line: WaitingLine | undefined): number => (line ? line.first.size + line.last.size : 0)

/**
 * Opens the slots. The next slot goes to the owner with the fewest slots. If several owners have equally few, it goes
 * to the one that has waited longest.
 */
export const openTurns = (
  places: number,
  { perOwner = places, line: lineLength = Number.POSITIVE_INFINITY }: TurnsOptions = {},
): Turns => {
  let free = places
  const takenSlots = new Map<string, number>()
  /** The owners in the order of turns. An owner that gets a slot moves to the end. */
  const lines = new Map<string, WaitingLine>()
  const heldBy = (owner: string) => takenSlots.get(owner) ?? 0

  const change = (owner: string, by: 1 | -1) => {
    free -= by
    const count = heldBy(owner) + by
    if (count === 0) takenSlots.delete(owner)
    else takenSlots.set(owner, count)
  }

  const takeOut = (owner: string, waiting: Waiting) => {
    const line = lines.get(owner)
    if (!line) return
    line.first.delete(waiting)
    line.last.delete(waiting)
    if (countWaiting(line) === 0) lines.delete(owner)
  }

  /**
   * Returns the owner with the fewest slots among those that are waiting and can have another one, in the order of
   * turns.
   */
  const nextOwner = (): string | undefined => {
    let next: string | undefined
    let fewest = perOwner
    for (const owner of lines.keys()) {
      const count = heldBy(owner)
      if (count >= fewest) continue
      next = owner
      fewest = count
    }
    return next
  }

  const serve = () => {
    while (free > 0) {
      const owner = nextOwner()
      const line = lines.get(owner ?? '')
      const waiting = line && firstOf(line)
      if (owner === undefined || !waiting) return
      takeOut(owner, waiting)
      if (lines.delete(owner)) lines.set(owner, line)
      change(owner, 1)
      waiting.give()
    }
  }

  const leaveOnce = (owner: string) => {
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      change(owner, -1)
      serve()
    }
  }

  const standInLine = (owner: string, { signal, background }: Wish) =>
    new Promise<void>((resolve, reject) => {
      const waitingInAll = lines.values().reduce((sum, each) => sum + countWaiting(each), 0)
      if (countWaiting(lines.get(owner)) >= lineLength - waitingInAll) throw lineIsFull()
      const line = lines.get(owner) ?? { first: new Set(), last: new Set() }
      lines.set(owner, line)
      const giveUp = () => {
        takeOut(owner, waiting)
        reject(signal?.reason)
      }
      const waiting: Waiting = {
        give: () => {
          signal?.removeEventListener('abort', giveUp)
          resolve()
        },
        reject,
      }
      line[background ? 'last' : 'first'].add(waiting)
      signal?.addEventListener('abort', giveUp, { once: true })
    })

  return {
    enter: async (owner, wish = {}) => {
      wish.signal?.throwIfAborted()
      if (free > 0 && heldBy(owner) < perOwner) change(owner, 1)
      else await standInLine(owner, wish)
      return leaveOnce(owner)
    },
    isWanted: (owner) => [...lines.keys()].some((other) => other !== owner && heldBy(other) < heldBy(owner)),
    close: (reason) => {
      for (const { first, last } of lines.values()) for (const { reject } of [...first, ...last]) reject(reason)
      lines.clear()
    },
  }
}
