/** Returns the time. It is a dependency, so that tests can advance it instead of waiting. */
export type Clock = { now: () => Date }

export const systemClock: Clock = { now: () => new Date() }
