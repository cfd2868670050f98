import type { Clock } from './clock.ts'
import type { Db } from './db/database.ts'
import { noteDatabaseTime } from './db/instance.ts'
import type { Log } from './log.ts'

/** Two machines with synchronized clocks differ by far less than this. */
const maxDriftMs = 60_000

/** Provides the time for deleting data by age. Nothing is deleted while no time can be trusted. */
export type Sweeps = {
  /** Returns the database's time, or undefined while a clock may be wrong. */
  time: () => Promise<Date | undefined>
  /** Returns the reason why nothing is deleted by age. */
  warning: () => string | undefined
}

/** Returns sweeps that trust a clock. */
export const trust = (clock: Clock): Sweeps => ({ time: async () => clock.now(), warning: () => undefined })

type Options = {
  db: Db
  log: Log
  /** Returns the time of this machine. */
  machineTime?: () => number
}

const spell = (ms: number): string => {
  const [count, unit] =
    ms >= 86_400_000 ? [ms / 86_400_000, 'days'] : ms >= 3_600_000 ? [ms / 3_600_000, 'hours'] : [ms / 1_000, 'seconds']
  return `${Math.round(count * 10) / 10} ${unit}`
}

export const openSweeps = ({ db, log, machineTime = Date.now }: Options): Sweeps => {
  let warning: string | undefined

  const pause = (reason: string): undefined => {
    if (warning !== reason) log.error({ reason }, 'deletion by age is paused')
    warning = reason
  }

  return {
    time: async () => {
      const before = machineTime()
      const { now, trustedAfter } = await noteDatabaseTime(db)
      const after = machineTime()
      const drift = Math.max(before - now.getTime(), now.getTime() - after)
      if (drift > maxDriftMs) {
        return pause(
          `The clocks of this machine and the database differ by ${spell(drift)}. Synchronize them; deletion by age then resumes automatically.`,
        )
      }
      if (now < trustedAfter) {
        return pause(
          `The clock of the database jumped, or the service was off for more than a day and a half. Check the clock. Deletion by age resumes at ${trustedAfter.toISOString()}.`,
        )
      }
      if (warning) log.info('deletion by age resumes')
      warning = undefined
      return now
    },
    warning: () => warning,
  }
}
