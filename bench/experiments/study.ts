import type { UniformRandom } from '../../test/support/spikes/random-hours.ts'

/** A share of the runs, and what it may be. It is judged less what chance does to so many runs: two standard errors. */
export type StudyLimit = { name: string; share: number; runs: number } & ({ atMost: number } | { atLeast: number })

type Definition<Setting, Outcome> = {
  title: string
  /** What was done, and how to read the table. */
  about: string
  runs: number
  settings: readonly Setting[]
  /** One experiment, the same from the same source of chance. */
  run: (setting: Setting, random: UniformRandom) => Outcome
  head: readonly string[]
  row: (setting: Setting, outcomes: readonly Outcome[]) => { cells: readonly string[]; judged: readonly StudyLimit[] }
}

/** One table of the answer, whatever its settings and outcomes are. */
export type Study = {
  title: string
  about: string
  runs: number
  settings: number
  head: readonly string[]
  run: (setting: number, random: UniformRandom) => unknown
  row: (setting: number, outcomes: readonly unknown[]) => { cells: readonly string[]; judged: readonly StudyLimit[] }
}

export const defineStudy = <Setting, Outcome>(definition: Definition<Setting, Outcome>): Study => {
  const { title, about, runs, settings, head, run, row } = definition
  const settingAt = (index: number): Setting => {
    const setting = settings[index]
    if (setting === undefined) throw new Error(`${title} has no setting ${index}`)
    return setting
  }
  return {
    title,
    about,
    runs,
    head,
    settings: settings.length,
    run: (setting, random) => run(settingAt(setting), random),
    // They are what `run` gave, perhaps in another thread.
    row: (setting, outcomes) => row(settingAt(setting), outcomes as readonly Outcome[]),
  }
}

export const shareOf = <T>(outcomes: readonly T[], is: (outcome: T) => boolean): number =>
  outcomes.filter(is).length / outcomes.length

export const percent = (share: number): string => `${(100 * share).toFixed(1)}%`

export const whole = (count: number): string => count.toLocaleString('en-US')
