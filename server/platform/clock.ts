/** The time, as a dependency: tests advance it instead of waiting. */
export type Clock = { now: () => Date }

export const systemClock: Clock = { now: () => new Date() }
