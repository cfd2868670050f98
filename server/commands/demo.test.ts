import { expect, it } from 'vitest'
import { ask, listProcesses, startEarshot, switchesOnTestDatabase } from '../../test/earshot.ts'

type Call = { id: string; recording: object | null }

const demo = async (switches: Record<string, string>, calls: number) => {
  const running = await startEarshot(switches, { args: ['demo', '--print-credentials', '--calls', String(calls)] })
  await expect.poll(running.stdout, { timeout: 20_000 }).toContain('The demo is loaded')
  const key = /^Demo$[\s\S]*?Owner key +(\S+)/m.exec(running.stdout())?.[1] ?? ''
  const { body } = await ask(running.origin, 'POST', '/v1/conversations/count', key, { filter: {} })
  const agents = await ask(running.origin, 'GET', '/v1/agents', key)
  const monitors = await ask(running.origin, 'GET', '/v1/monitors', key)
  const buckets = await ask(running.origin, 'GET', '/v1/buckets', key)
  const newest = await ask(running.origin, 'GET', '/v1/conversations?channel=call&limit=20', key)
  running.child.kill('SIGTERM')
  expect(await running.ended).toEqual({ code: 0, signal: null })
  return {
    count: body.count,
    agents: agents.body.data.length,
    monitors: monitors.body.data.length,
    buckets: buckets.body.data.length,
    newest: newest.body.data.map(({ id }: Call) => id) as string[],
    sounding: newest.body.data
      .filter(({ recording }: Call) => recording !== null)
      .map(({ id }: Call) => id) as string[],
    stdout: running.stdout(),
  }
}

it('fills its own organization, and only adds what is missing when it runs again', async () => {
  const switches = await switchesOnTestDatabase()
  const first = await demo(switches, 510)
  expect(first).toMatchObject({ count: 510, agents: 4, monitors: 9, buckets: 2 })
  expect(first.sounding).toHaveLength(3)
  expect(first.stdout).toContain('510 of 510 conversations')
  expect(first.stdout).toMatch(/^Demo$[\s\S]*?Sign in +http:\S+\/welcome#/m)
  const second = await demo(switches, 620)
  expect(second).toMatchObject({ count: 620, agents: 4, monitors: 9, buckets: 2 })
  // The time of day determines how many of the previous recordings are among the newest.
  expect(second.sounding.length).toBeGreaterThanOrEqual(4)
  expect(second.sounding).toEqual(expect.arrayContaining(first.sounding.filter((id) => second.newest.includes(id))))
  await expect.poll(() => listProcesses(switches.EARSHOT_DATA_DIR)).toEqual([])
}, 60_000)
