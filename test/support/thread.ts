import { defineTask } from '../../server/platform/threads/define-task.ts'
import { serveTasks } from '../../server/platform/threads/serve-tasks.ts'

/** The tests of threads run the tasks of this thread. */

export const wait = defineTask({
  name: 'test.wait',
  run: (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
})

export const fail = defineTask({
  name: 'test.fail',
  run: (message: string): void => {
    throw new Error(message)
  },
})

serveTasks([wait, fail])
