import { afterEach, expect, it } from 'vitest'
import { fail, wait } from '../../../test/support/thread.ts'
import { openThreads, type Threads } from './threads.ts'

let threads: Threads

const open = (options: Parameters<typeof openThreads>[1]) => {
  threads = openThreads(new URL('../../../test/support/thread.ts', import.meta.url), options)
}

afterEach(() => threads.close())

it('takes turns between owners, however many tasks one has queued', async () => {
  open({ threads: 1 })
  const ended: string[] = []
  const run = (owner: string) => threads.run(owner, wait, 5).then(() => ended.push(owner))
  await Promise.all([...'aaaaaaaa'].map(run).concat(run('b')))
  expect(ended.indexOf('b')).toBeLessThan(3)
})

it('leaves one thread to other owners', async () => {
  open({ threads: 2 })
  const ended: string[] = []
  const run = (owner: string, ms: number) => threads.run(owner, wait, ms).then(() => ended.push(owner))
  await Promise.all([run('a', 500), run('a', 500), run('b', 1)])
  expect(ended[0]).toBe('b')
})

it('returns 503 when the queue is full, and reserves space for others', async () => {
  open({ threads: 1, line: 4 })
  const running = threads.run('a', wait, 50)
  const waiting = [1, 2].map(() => threads.run('a', wait, 1))
  await expect(threads.run('a', wait, 1)).rejects.toMatchObject({
    kind: 'unavailable',
    details: { retryAfterSeconds: 2 },
  })
  const other = threads.run('b', wait, 1)
  await Promise.all([running, ...waiting, other])
  await threads.run('a', wait, 1)
})

it('starts tasks that arrive between the error of a thread and its exit', async () => {
  open({ threads: 1 })
  await expect(threads.run('a', fail, 'once')).rejects.toThrow('once')
  await threads.run('a', wait, 1)
  // Tasks that are in the queue at that time fail, too.
  const failing = threads.run('a', fail, 'again')
  const next = threads.run('a', wait, 1)
  await expect(failing).rejects.toThrow('again')
  await next
})

it('rejects waiting tasks when it is closed', async () => {
  open({ threads: 1 })
  const ended = Promise.allSettled([threads.run('a', wait, 5_000), threads.run('a', wait, 1)])
  await threads.close()
  expect((await ended).map((end) => end.status === 'rejected' && end.reason.kind)).toEqual([
    'unavailable',
    'unavailable',
  ])
})
