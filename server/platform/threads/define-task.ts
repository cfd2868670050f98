/**
 * Work that would block the event loop for too long. It must be a pure function of data that can be copied to a thread
 * and back.
 */
export type ThreadTask<Input, Output> = {
  name: string
  run: (input: Input) => Output
}

export const defineTask = <Input, Output>(task: ThreadTask<Input, Output>): ThreadTask<Input, Output> => task

// biome-ignore lint/suspicious/noExplicitAny: each task has its own types, and a thread only passes them on
export type AnyTask = ThreadTask<any, any>
