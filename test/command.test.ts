import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'

const run = promisify(execFile)
const checkout = join(import.meta.dirname, '..')
/** A machine whose own node, if it has one, is never taken. */
const env = { PATH: '/usr/bin:/bin' }

let folder: string
let root: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-command-'))
  // A space, because someone has one.
  root = join(folder, 'a checkout')
  await mkdir(join(root, 'server'), { recursive: true })
  await cp(join(checkout, 'bin'), join(root, 'bin'), { recursive: true })
  await writeFile(
    join(root, 'server/main.ts'),
    'const told: string[] = [process.version, process.cwd(), ...process.argv.slice(2)]\nconsole.log(JSON.stringify(told))\n',
  )
})

afterEach(() => rm(folder, { recursive: true, force: true }))

test('it runs the Node of its own checkout, from anywhere and through links, with its arguments as they are', async () => {
  await symlink(join(checkout, 'node_modules'), join(root, 'node_modules'))
  await symlink(join(root, 'bin/earshot'), join(folder, 'absolute'))
  await symlink('absolute', join(folder, 'relative'))
  for (const command of [join(root, 'bin/earshot'), join(folder, 'absolute'), './relative']) {
    const { stdout, stderr } = await run(command, ['keys', 'a b', ''], { cwd: folder, env })
    expect(JSON.parse(stdout)).toEqual([expect.stringMatching(/^v24\./), folder, 'keys', 'a b', ''])
    expect(stderr).toBe('')
  }
})

test('without installed packages it says what to do', async () => {
  await expect(run(join(root, 'bin/earshot'), [], { cwd: folder, env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^earshot: .* is missing\. Run npm install in .*a checkout first\.\n$/),
  })
})
