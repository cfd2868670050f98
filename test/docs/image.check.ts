import { execFile } from 'node:child_process'
import { cp, readFile, symlink } from 'node:fs/promises'
import { join, matchesGlob, relative } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { makeDataDir, startEarshot } from '../earshot.ts'

/** The image as its Dockerfile makes it, but for the packages, which are those that are installed here. */

const root = join(import.meta.dirname, '../..')
const read = (name: string) => readFile(join(root, name), 'utf8')

const readLines = async (name: string) => (await read(name)).split('\n').filter((line) => line && !line.startsWith('#'))

it('builds the console and serves with what is copied into it', async () => {
  const ignored = await readLines('.dockerignore')
  const copies = (await readLines('Dockerfile')).flatMap((line) => {
    const [instruction, ...names] = line.split(' ')
    return instruction === 'COPY' && !names[0]?.startsWith('--') ? [names.slice(0, -1)] : []
  })
  const image = await makeDataDir()
  const isWanted = (source: string) => !ignored.some((pattern) => matchesGlob(relative(root, source), pattern))
  for (const name of copies.flat()) await cp(join(root, name), join(image, name), { recursive: true, filter: isWanted })
  await symlink(join(root, 'node_modules'), join(image, 'node_modules'))

  await promisify(execFile)('npm', ['run', 'build'], { cwd: image })
  const switches = { EARSHOT_DATA_DIR: join(image, 'data') }
  const { origin, child, ended } = await startEarshot(switches, { file: join(image, 'bin/earshot') })
  const titleOf = async (path: string) => /<title>(.*)<\/title>/.exec(await (await fetch(origin + path)).text())?.[1]
  expect(await titleOf('/')).toBe('Earshot')
  expect(await titleOf('/docs/guide/client')).toBe('The client library · Earshot')
  child.kill('SIGTERM')
  expect(await ended).toEqual({ code: 0, signal: null })
})
