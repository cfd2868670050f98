/** Work that takes too long for the event loop: a pure function of data that can be copied to a thread and back. */
export type ThreadTask<Input, Output> = {
  name: string
  run: (input: Input) => Output
}

export const defineTask = <Input, Output>(task: ThreadTask<Input, Output>): ThreadTask<Input, Output> => task

// Each task has its own types; a thread passes on its input.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyTask = ThreadTask<any, any>
