import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'

const run = promisify(execFile)
const checkout = join(import.meta.dirname, '..')
const systemPath = '/usr/bin:/bin'

let folder: string
let root: string
let env: { PATH: string }

/** Installs a fake Node of this version, which prints its version and arguments. */
const putNodeOnPath = async (version: string) => {
  const node = join(folder, 'path/node')
  await writeFile(node, `#!/bin/sh\n[ "$1" = --version ] && echo ${version} || echo "the machine's runs $*"\n`)
  await chmod(node, 0o755)
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-command-'))
  // The path contains a space, because users' paths may.
  root = join(folder, 'a checkout')
  await mkdir(join(root, 'server'), { recursive: true })
  await mkdir(join(folder, 'path'))
  env = { PATH: `${join(folder, 'path')}:${systemPath}` }
  await putNodeOnPath('v20.20.2')
  await cp(join(checkout, 'bin'), join(root, 'bin'), { recursive: true })
  await writeFile(
    join(root, 'server/main.ts'),
    'const told: string[] = [process.version, process.cwd(), ...process.argv.slice(2)]\nconsole.log(JSON.stringify(told))\n',
  )
})

afterEach(() => rm(folder, { recursive: true, force: true }))

test('it runs the Node of its own checkout, not an older one, from anywhere and through links, with unchanged arguments', async () => {
  await symlink(join(checkout, 'node_modules'), join(root, 'node_modules'))
  await symlink(join(root, 'bin/earshot'), join(folder, 'absolute'))
  await symlink('absolute', join(folder, 'relative'))
  for (const command of [join(root, 'bin/earshot'), join(folder, 'absolute'), './relative']) {
    const { stdout, stderr } = await run(command, ['keys', 'a b', ''], { cwd: folder, env })
    expect(JSON.parse(stdout)).toEqual([expect.stringMatching(/^v24\./), folder, 'keys', 'a b', ''])
    expect(stderr).toBe('')
  }
})

test.each(['v24.3.0', 'v26.1.0', 'v100.0.0'])("it runs on the machine's Node %s", async (version) => {
  await mkdir(join(root, 'node_modules'))
  await putNodeOnPath(version)
  const { stdout } = await run(join(root, 'bin/earshot'), ['keys'], { cwd: folder, env })
  expect(stdout).toMatch(/^the machine's runs .*a checkout\/server\/main\.ts keys\n$/)
})

test('with an old Node and without the packaged one, it says what is missing', async () => {
  await mkdir(join(root, 'node_modules'))
  await expect(run(join(root, 'bin/earshot'), [], { cwd: folder, env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^earshot: neither Node 24\.3 on the PATH nor .*\/node\. Run npm install in .* again\.\n$/,
    ),
  })
})

test('without installed packages it says what to do', async () => {
  await expect(run(join(root, 'bin/earshot'), [], { cwd: folder, env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^earshot: .* is missing\. Run npm install in .*a checkout first\.\n$/),
  })
})
