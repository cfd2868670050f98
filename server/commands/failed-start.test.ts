import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { listProcesses, makeDataDir, runEarshot, switchesOnTestDatabase } from '../../test/earshot.ts'

it('a start that fails exits and leaves no process behind', async () => {
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

it('a start that cannot open its storage exits too, and the database stops', async () => {
  const switches = await switchesOnTestDatabase()
  const file = join(switches.EARSHOT_DATA_DIR, 'file')
  await writeFile(file, '')
  const { code, stderr } = await runEarshot(['serve'], { ...switches, EARSHOT_STORAGE: `file:${join(file, 'folder')}` })
  expect(code).toBe(1)
  expect(stderr).toContain('ENOTDIR')
})
