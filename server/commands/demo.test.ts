import { expect, it } from 'vitest'
import { ask, listProcesses, startEarshot, switchesOnTestDatabase } from '../../test/earshot.ts'

const demo = async (switches: Record<string, string>, calls: number) => {
  const running = await startEarshot(switches, { args: ['demo', '--calls', String(calls)] })
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
    sounding: newest.body.data.filter(({ recording }: { recording: object | null }) => recording !== null).length,
    stdout: running.stdout(),
  }
}

it('fills an organization of its own, and run again adds what is missing alone', async () => {
  const switches = await switchesOnTestDatabase()
  const first = await demo(switches, 510)
  expect(first).toMatchObject({ count: 510, agents: 4, monitors: 6, buckets: 2, sounding: 12 })
  expect(first.stdout).toContain('510 of 510 conversations')
  expect(first.stdout).toMatch(/^Demo$[\s\S]*?Sign in +http:\S+\/welcome#/m)
  const second = await demo(switches, 620)
  expect(second).toMatchObject({ count: 620, agents: 4, monitors: 6, buckets: 2 })
  // Of those that sounded before, some are among the newest still, by the time of day.
  expect(second.sounding).toBeGreaterThanOrEqual(12)
  await expect.poll(() => listProcesses(switches.EARSHOT_DATA_DIR)).toEqual([])
}, 60_000)
