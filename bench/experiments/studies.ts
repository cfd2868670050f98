import { seeded, type UniformRandom } from '../../test/support/spikes/random-hours.ts'
import { coverage } from './coverage.ts'
import { detection } from './detection.ts'
import { falseAlarmsOfCallers, falseAlarmsOfRates, falseAlarmsOfScores } from './false-alarms.ts'
import { judge } from './judge.ts'
import { split } from './split.ts'
import type { Study } from './study.ts'

/** The studies in the order of the page. New ones belong at the end, so that earlier ones keep their random numbers. */
export const studies: readonly Study[] = [
  falseAlarmsOfRates,
  falseAlarmsOfScores,
  falseAlarmsOfCallers,
  coverage,
  detection,
  split,
  judge,
]

export const seed = 6_000_000

/** Some of the runs of one setting. */
export type StudyTask = { study: number; setting: number; from: number; to: number }

const chanceOf = ({ study, setting }: StudyTask, run: number): UniformRandom =>
  seeded(seed + study * 100_000_000 + setting * 1_000_000 + run)

export const runTask = (task: StudyTask): unknown[] => {
  const { study, setting, from, to } = task
  return Array.from({ length: to - from }, (_, at) => studies[study]?.run(setting, chanceOf(task, from + at)))
}
