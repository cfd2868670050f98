import { setTimeout as sleep } from 'node:timers/promises'

/** One kind of request, and the rate at which it is sent, regardless of the responses. */
export type RequestStream = { name: string; perSecond: number; ask: () => Promise<number> }

export type StreamMeasurement = { name: string; latencies: number[]; statuses: Map<number | string, number> }

/** With more requests in flight than this, the service isn't keeping up at all. */
const mostUnderWay = 500

/** Sends requests at a steady rate, and measures each from when it was due, which includes the time in the queue. */
const runStream = async ({ name, perSecond, ask }: RequestStream, until: number): Promise<StreamMeasurement> => {
  const measured: StreamMeasurement = { name, latencies: [], statuses: new Map() }
  const underWay = new Set<Promise<void>>()
  const startedAt = performance.now() + Math.random() * (1_000 / perSecond)
  for (let number = 0; ; number++) {
    const dueAt = startedAt + (number * 1_000) / perSecond
    if (dueAt >= until) break
    const early = dueAt - performance.now()
    if (early > 0) await sleep(early)
    if (underWay.size >= mostUnderWay) throw new Error(`${name}: ${underWay.size} requests wait for an answer`)
    const one = ask()
      .catch((error: Error) => `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}`.trim())
      .then((status) => {
        measured.latencies.push(performance.now() - dueAt)
        measured.statuses.set(status, (measured.statuses.get(status) ?? 0) + 1)
        underWay.delete(one)
      })
    underWay.add(one)
  }
  await Promise.all(underWay)
  return measured
}

export const runStreams = (streams: RequestStream[], until: number): Promise<StreamMeasurement[]> =>
  Promise.all(streams.map((stream) => runStream(stream, until)))

export const percentile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
