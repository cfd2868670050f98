import { once } from 'node:events'
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSpool } from './spool.ts'

const before = process.env.TMPDIR
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-spool-test-'))
  process.env.TMPDIR = folder
})
afterAll(async () => {
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
  await rm(folder, { recursive: true })
})

/** Returns the spool files that this process has open. */
const openFiles = async (): Promise<string[]> => {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  )
  return links.filter((link) => link.startsWith(folder))
}

const spoolOf = async (pieces: number) => {
  const spool = openSpool()
  for (let at = 0; at < pieces; at++) await spool.add(`${at} `.padEnd(100_000, 'ü'))
  return spool
}

const whole = (pieces: number) => Array.from({ length: pieces }, (_, at) => `${at} `.padEnd(100_000, 'ü')).join('')

it.each([0, 3, 35])('reads %i pieces between two texts', async (pieces) => {
  const spool = await spoolOf(pieces)
  expect(await readdir(folder)).toEqual([])
  const answer = spool.read('[', ']')
  expect(await text(answer)).toBe(`[${whole(pieces)}]`)
  await expect.poll(openFiles).toEqual([])
})

it.each([
  ['nobody begins to read', false],
  ['nobody reads to the end', true],
])('leaves nothing behind if %s', async (_name, begin) => {
  const answer = (await spoolOf(35)).read('[', ']')
  expect(await openFiles()).toHaveLength(1)
  if (begin) await once(answer, 'readable')
  answer.destroy()
  await expect.poll(openFiles).toEqual([])
  expect(await readdir(folder)).toEqual([])
})
