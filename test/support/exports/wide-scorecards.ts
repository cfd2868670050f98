import { makeMonitor } from '../../make.ts'
import type { TestServer } from '../../server.ts'

/** Returns functions that create scorecards and change how many of these monitors are items of them. */
export const wideScorecards = async (server: TestServer, key: string) => {
  const ids: string[] = []
  while (ids.length < 100) ids.push((await makeMonitor(server, key)).id)
  const definitionOf = (items: number) => ({
    sections: [{ name: 'All', items: ids.slice(0, items).map((monitorId) => ({ monitorId, points: 1 })) }],
    affectedBelow: 80,
  })
  return {
    make: async (count: number, items: number): Promise<{ id: string }[]> => {
      const made: { id: string }[] = []
      while (made.length < count) {
        const { id } = await makeMonitor(server, key, { kind: 'scorecard', definition: definitionOf(items) })
        made.push({ id })
      }
      return made
    },
    change: (id: string | undefined, items: number) =>
      server.call('PATCH', `/v1/monitors/${id}`, { key, body: { definition: definitionOf(items) } }),
  }
}
