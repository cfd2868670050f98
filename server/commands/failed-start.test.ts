import { createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { listProcesses, makeDataDir, runEarshot } from '../../test/earshot.ts'

it('a start that fails ends by itself and leaves no process behind', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => {
    taken.close()
  })
  await new Promise((resolve) => taken.once('listening', resolve))
  const address = taken.address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  const dataDir = await makeDataDir()
  const { code, stderr } = await runEarshot(['serve'], { PORT: port, EARSHOT_DATA_DIR: dataDir })
  expect(code).toBe(1)
  expect(stderr).toContain('EADDRINUSE')
  expect(await listProcesses(dataDir)).toEqual([])
})
