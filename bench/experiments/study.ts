import type { UniformRandom } from '../../test/support/spikes/random-hours.ts'

/** The limit of a share of runs. Two standard errors of this many runs are subtracted first. */
export type StudyLimit = { name: string; share: number; runs: number } & ({ atMost: number } | { atLeast: number })

type Definition<Setting, Outcome> = {
  title: string
  /** Describes the simulation and the table. */
  about: string
  runs: number
  settings: readonly Setting[]
  /** Runs one experiment. The same random numbers always lead to the same result. */
  run: (setting: Setting, random: UniformRandom) => Outcome
  head: readonly string[]
  row: (setting: Setting, outcomes: readonly Outcome[]) => { cells: readonly string[]; judged: readonly StudyLimit[] }
}

/** A study with one table, for any type of settings and outcomes. */
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
    // The outcomes are results of `run`, but may come from another thread.
    row: (setting, outcomes) => row(settingAt(setting), outcomes as readonly Outcome[]),
  }
}

export const shareOf = <T>(outcomes: readonly T[], is: (outcome: T) => boolean): number =>
  outcomes.filter(is).length / outcomes.length

export const percent = (share: number): string => `${(100 * share).toFixed(1)}%`

export const whole = (count: number): string => count.toLocaleString('en-US')
