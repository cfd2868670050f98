import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../clock.ts'
import { newId } from '../ids.ts'
import { trust } from '../sweeps.ts'
import { openLocalStore } from './local.ts'
import type { BlobStore } from './store.ts'

const organization = newId()
const key = `${organization}/exports/calls.csv`
const text = { contentType: 'text/csv' }

let folder: string
let store: BlobStore

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-local-'))
  store = await openLocalStore(folder)
})
afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

const read = async () => {
  const found = await store.get(key)
  return found && (await buffer(found.stream)).toString()
}

test('a process killed while it writes leaves the last complete file, whatever the time', async () => {
  const program = `
    import { openLocalStore } from ${JSON.stringify(new URL('./local.ts', import.meta.url).href)}
    const store = await openLocalStore(${JSON.stringify(folder)})
    for (let turn = 0; ; turn++) {
      const chunk = Buffer.alloc(100_000, 65 + (turn % 26))
      await store.put(${JSON.stringify(key)}, Array(10).fill(chunk), { contentType: 'text/turn-' + (turn % 26) })
      process.stdout.write('.')
    }`
  for (let round = 0; round < 5; round++) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      for (let output = 0; output <= round; output++) await once(child.stdout, 'data')
    } finally {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    const content = (await read()) ?? ''
    expect(content).toBe((content[0] ?? '').repeat(1_000_000))
    expect(await store.head(key)).toMatchObject({ contentType: `text/turn-${content.charCodeAt(0) - 65}` })
  }
  const left = await readdir(join(folder, '.incoming'))
  for (const name of left) await utimes(join(folder, '.incoming', name), new Date(0), new Date(0))
  await (await openLocalStore(folder, trust(systemClock))).close()
  expect(await readdir(join(folder, '.incoming'))).toEqual([])
})

test('opening removes partial files of dead processes, but not those being written', async () => {
  const incoming = join(folder, '.incoming')
  await writeFile(join(incoming, 'old'), 'half')
  await utimes(join(incoming, 'old'), new Date(0), new Date(Date.now() - 3_700_000))
  await writeFile(join(incoming, 'fresh'), 'half')
  await (await openLocalStore(folder, trust(systemClock))).close()
  expect(await readdir(incoming)).toEqual(['fresh'])
})

test('a failed put leaves no files', async () => {
  const failing = async function* () {
    yield Buffer.alloc(100_000)
    throw new Error('the sender went away')
  }
  await expect(store.put(key, failing(), text)).rejects.toThrow('the sender went away')
  expect((await readdir(folder, { recursive: true })).sort()).toEqual(['.incoming'])
})

test('a truncated file is an error, and never returned partially', async () => {
  await store.put(key, [Buffer.alloc(1_000, 'x')], text)
  for (const length of [900, 50, 0]) {
    await truncate(join(folder, key), length)
    await expect(store.get(key)).rejects.toThrow('incomplete')
    await expect(store.head(key)).rejects.toThrow('incomplete')
  }
})

test('follows no symbolic link out of its folder for reading, writing, or deleting', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'earshot-outside-'))
  try {
    const other = await openLocalStore(outside)
    await other.put(key, [Buffer.from('secret')], text)
    await other.close()

    await mkdir(join(folder, organization, 'exports'), { recursive: true })
    await symlink(join(outside, key), join(folder, key))
    expect(await store.get(key)).toBeUndefined()
    await store.put(key, [Buffer.from('mine')], text)
    expect(await read()).toBe('mine')

    await rm(join(folder, organization), { recursive: true })
    await symlink(join(outside, organization), join(folder, organization))
    await expect(store.get(key)).rejects.toThrow('is a symbolic link')
    await expect(store.put(key, [Buffer.from('mine')], text)).rejects.toThrow('is a symbolic link')
    await expect(store.delete(key)).rejects.toThrow('is a symbolic link')
    const listed: unknown[] = []
    for await (const entry of store.list('')) listed.push(entry)
    expect(listed).toEqual([])
    expect(await readFile(join(outside, key), 'utf8')).toMatch(/^secret\n/)
  } finally {
    await rm(outside, { recursive: true })
  }
})

test('works if the folder itself is a symbolic link', async () => {
  const link = `${folder}-link`
  await symlink(folder, link)
  try {
    const linked = await openLocalStore(link)
    await linked.put(key, [Buffer.from('there')], text)
    await linked.close()
    expect(await read()).toBe('there')
  } finally {
    await rm(link)
  }
})

test('a missing folder makes it unavailable and not ready', async () => {
  await rm(folder, { recursive: true })
  const unavailable = { kind: 'unavailable', cause: { code: 'ENOENT' } }
  await expect(store.check()).rejects.toMatchObject(unavailable)
  await expect(store.put(key, [Buffer.from('x')], text)).rejects.toMatchObject(unavailable)
  expect(await store.get(key)).toBeUndefined()
})
