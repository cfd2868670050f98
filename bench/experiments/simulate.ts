// Runs all simulated studies on all cores.

import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { judge, print } from '../report.ts'
import { type StudyTask, seed, studies } from './studies.ts'
import type { Study, StudyLimit } from './study.ts'

const runsOfTask = 25
const threads = availableParallelism()

const tasksOf = ({ runs, settings }: Study, study: number): StudyTask[] =>
  Array.from({ length: settings }, (_, setting) =>
    Array.from({ length: Math.ceil(runs / runsOfTask) }, (_, at) => {
      const from = at * runsOfTask
      return { study, setting, from, to: Math.min(runs, from + runsOfTask) }
    }),
  ).flat()

/** Returns the results of each run of each setting. They are the same for any number of threads. */
const simulateAll = async (tasks: readonly StudyTask[]): Promise<Map<StudyTask, unknown[]>> => {
  const results = new Map<StudyTask, unknown[]>()
  const waiting = [...tasks]
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const worker = new Worker(new URL('./worker.ts', import.meta.url))
      for (let task = waiting.shift(); task; task = waiting.shift()) {
        worker.postMessage(task)
        const [outcomes]: unknown[][][] = await once(worker, 'message')
        results.set(task, outcomes ?? [])
      }
      await worker.terminate()
    }),
  )
  return results
}

/** Returns how much chance changes a share of this many runs, 19 times out of 20. */
const twoErrors = (share: number, runs: number) => 2 * Math.sqrt((share * (1 - share)) / runs)

const judgeShare = ({ name, share, runs, ...bound }: StudyLimit): void => {
  const inPercent = (limit: number) => Number((100 * limit).toFixed(2))
  const limit =
    'atMost' in bound
      ? { atMost: inPercent(bound.atMost + twoErrors(bound.atMost, runs)) }
      : { atLeast: inPercent(bound.atLeast - twoErrors(bound.atLeast, runs)) }
  judge(name, 100 * share, limit, '%')
}

const markdownOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** Wraps a paragraph at 120 columns. */
const wrapped = (text: string): string => text.replace(/(?![^\n]{1,120}$)([^\n]{1,120}) /g, '$1\n')

const page = join(import.meta.dirname, '../../docs/experiments.md')
const markers = { begin: '<!-- simulations: begin -->', end: '<!-- simulations: end -->' }

const write = (text: string): void => {
  const before = readFileSync(page, 'utf8')
  const [begin, end] = [before.indexOf(markers.begin), before.indexOf(markers.end)]
  if (begin < 0 || end < begin) throw new Error(`${page} has no markers to write between`)
  const head = before.slice(0, begin + markers.begin.length)
  writeFileSync(page, `${head}\n\n${text}\n\n${before.slice(end)}`)
}

/** Runs the studies. With `writes`, puts the tables into the page. */
export const simulate = async ({ writes }: { writes: boolean }): Promise<void> => {
  const startedAt = performance.now()
  print(`Simulations, seed ${seed}, on ${threads} threads: some minutes, and then all at once`)
  const tasks = studies.map(tasksOf)
  const results = await simulateAll(tasks.flat())
  const sections = studies.map((study, index) => {
    const { title, about, runs, head } = study
    print(`\n${title}: ${runs} runs of each`)
    const rows = Array.from({ length: study.settings }, (_, setting) => {
      const own = (tasks[index] ?? []).filter((task) => task.setting === setting)
      const { cells, judged } = study.row(
        setting,
        own.flatMap((task) => results.get(task) ?? []),
      )
      for (const each of judged) judgeShare(each)
      return cells
    })
    const text = `${about} ${runs.toLocaleString('en-US')} experiments per row.`
    return `### ${title}\n\n${wrapped(text)}\n\n${markdownOf(head, rows)}`
  })
  const text = sections.join('\n\n')
  print(`\n${text}\n`)
  print(`It took ${((performance.now() - startedAt) / 1000).toFixed(0)} s.`)
  if (writes) write(text)
}
