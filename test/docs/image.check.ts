import { execFile } from 'node:child_process'
import { cp, readFile, symlink } from 'node:fs/promises'
import { join, matchesGlob, relative } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { makeDataDir, startEarshot, takeFreePort } from '../earshot.ts'
import { inheritedEnvironment } from '../inherited.ts'

/** Runs the steps of the Dockerfile with the packages that are installed here. */

const root = join(import.meta.dirname, '../..')
const read = (name: string) => readFile(join(root, name), 'utf8')

/** Joins each line that ends with a backslash with the next one. */
const readLines = async (name: string) =>
  (await read(name))
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))

/** Returns the variables in the image's ENV. */
const readSwitches = (lines: string[]): Record<string, string> => {
  const pairs = lines.flatMap((line) => (line.startsWith('ENV ') ? line.split(' ').slice(1) : []))
  return Object.fromEntries(pairs.map((pair) => pair.split('=')))
}

/** Returns a function that runs the image's HEALTHCHECK and returns whether it passes. */
const openHealthCheck = (lines: string[], switches: Record<string, string>) => {
  const [, command = '[]'] = /^HEALTHCHECK .*CMD (\[.*\])$/m.exec(lines.join('\n')) ?? []
  const [file = '', ...args] = JSON.parse(command) as string[]
  const env = { ...inheritedEnvironment(), ...switches }
  return () =>
    new Promise<boolean>((resolve, reject) => {
      const child = execFile(file, args, { env }, (error) =>
        child.exitCode === null ? reject(error) : resolve(child.exitCode === 0),
      )
    })
}

it('builds the console, serves with the files copied into it, and has a working health check', async () => {
  const ignored = await readLines('.dockerignore')
  const dockerfile = await readLines('Dockerfile')
  const copies = dockerfile.flatMap((line) => {
    const [instruction, ...names] = line.split(' ')
    return instruction === 'COPY' && !names[0]?.startsWith('--') ? [names.slice(0, -1)] : []
  })
  const image = await makeDataDir()
  const isWanted = (source: string) => !ignored.some((pattern) => matchesGlob(relative(root, source), pattern))
  for (const name of copies.flat()) await cp(join(root, name), join(image, name), { recursive: true, filter: isWanted })
  await symlink(join(root, 'node_modules'), join(image, 'node_modules'))

  await promisify(execFile)('npm', ['run', 'build'], { cwd: image })
  const file = join(image, 'bin/earshot')
  const own = { PORT: String(await takeFreePort()), EARSHOT_DATA_DIR: join(image, 'data') }
  const given = readSwitches(dockerfile)
  expect(given.PORT).toBe('4000')
  const switches = { ...given, ...own }
  const isHealthy = openHealthCheck(dockerfile, switches)
  const { origin, child, ended } = await startEarshot(switches, { file })
  const titleOf = async (path: string) => /<title>(.*)<\/title>/.exec(await (await fetch(origin + path)).text())?.[1]
  expect(await titleOf('/')).toBe('Earshot')
  expect(await titleOf('/docs/guide/client')).toBe('TypeScript client · Earshot')
  expect(await isHealthy()).toBe(true)
  child.kill('SIGTERM')
  expect(await ended).toEqual({ code: 0, signal: null })
  expect(await isHealthy()).toBe(false)

  const roles = { EARSHOT_ROLES: 'worker', EARSHOT_STORAGE_SHARED: 'true' }
  const worker = await startEarshot({ ...switches, ...roles }, { file })
  expect(await isHealthy()).toBe(true)
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, signal: null })
  expect(await isHealthy()).toBe(false)
})
