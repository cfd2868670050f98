import { Earshot } from '../../client/src/earshot.ts'
import type { MixedWorld } from './traffic.ts'

export type Exported = { format: string; seconds: number; rows: number; bytes: number }

/** The maximum number of calls that an export can have. */
const mostRows = 100_000

/** Creates one export after the other and downloads each completely, alternating between the three formats. */
export const exportOnAndOn = async (world: MixedWorld, until: number): Promise<Exported[]> => {
  const earshot = new Earshot({ url: world.origin, key: world.key })
  const done: Exported[] = []
  const since = await findSince(earshot)
  while (performance.now() < until) {
    for (const format of ['csv', 'parquet', 'xlsx'] as const) {
      if (performance.now() >= until) break
      const startedAt = performance.now()
      // The monitors of the demo come last in the list, and they have evaluated everything.
      const monitors = world.monitors.slice(-6).map(({ id }) => ({ id, result: 'all' as const }))
      const config = { monitors, ...since, timezone: 'Europe/Berlin', format }
      const { export: made, ...file } = await earshot.exports.createAndDownload(config)
      const content = await file.bytes()
      done.push({
        format,
        seconds: (performance.now() - startedAt) / 1_000,
        rows: made.rowCount ?? 0,
        bytes: content.length,
      })
      await earshot.exports.delete(made.id)
    }
  }
  return done
}

/** Returns the start of a past period with about as many calls as an export can have. */
const findSince = async (earshot: Earshot) => {
  const day = 86_400_000
  const until = Date.now() - day
  const countSince = async (days: number) => {
    const window = { since: new Date(until - days * day).toISOString(), until: new Date(until).toISOString() }
    const { count } = await earshot.conversations.count({ filter: window })
    return { window, count }
  }
  let [low, high] = [0, 400]
  for (let step = 0; step < 12; step++) {
    const middle = (low + high) / 2
    const { count } = await countSince(middle)
    if (count <= mostRows) low = middle
    else high = middle
  }
  return (await countSince(low)).window
}
