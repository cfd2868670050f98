import { parentPort } from 'node:worker_threads'
import { ApiError, type ErrorDetails, type ErrorKind } from '../errors.ts'
import type { AnyTask } from './define-task.ts'

/** The messages between a thread and the event loop. */
export type TaskOrder = { name: string; input: unknown }
export type TaskReply =
  | { output: unknown }
  | { refused: { kind: ErrorKind; message: string; details?: ErrorDetails | undefined } }

/** Runs tasks in a thread by name. */
export const serveTasks = (tasks: AnyTask[]): void => {
  const byName = new Map(tasks.map((task) => [task.name, task]))
  const run = ({ name, input }: TaskOrder): TaskReply => {
    try {
      const task = byName.get(name)
      if (!task) throw new Error(`No thread knows the task ${name}`)
      return { output: task.run(input) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { kind, message, details } = error
      return { refused: { kind, message, details } }
    }
  }
  parentPort?.on('message', (order: TaskOrder) => parentPort?.postMessage(run(order)))
}
