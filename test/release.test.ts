import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'

const run = promisify(execFile)
const checkout = join(import.meta.dirname, '..')

let folder: string
let clone: string

const git = async (...args: string[]) => (await run('git', args, { cwd: clone })).stdout.trim()
const release = async (...args: string[]) => {
  const command = run(process.execPath, ['tools/release.ts', ...args], { cwd: clone })
  return command.then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}
const readClone = (file: string) => readFile(join(clone, file), 'utf8')

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-release-'))
  clone = join(folder, 'clone')
  // Uncommitted changes are tested, too.
  const { stdout: files } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: checkout,
  })
  const list = join(folder, 'files')
  await writeFile(list, files)
  await run('git', ['init', '--quiet', '--initial-branch', 'main', clone])
  await run('sh', ['-c', `tar --create --files-from ${list} | tar --extract --directory ${clone}`], { cwd: checkout })
  await git('config', 'user.name', 'Olga Owner')
  await git('config', 'user.email', 'olga@example.com')
  await symlink(join(checkout, 'node_modules'), join(clone, 'node_modules'))
  await git('add', '--all', '--', '.', ':!node_modules')
  await git('commit', '--quiet', '--message', 'exports: write one')
  await writeFile(join(clone, '.git/info/exclude'), 'node_modules\n')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('rejects an invalid release, and changes nothing', async () => {
  const head = await git('rev-parse', 'HEAD')
  for (const version of ['0.0.9', '1.2', 'v1.2.0', '01.2.0', '']) {
    const refused = await release(version)
    expect([refused.code, refused.stderr], version).toEqual([1, expect.stringContaining('Nothing was changed.')])
  }
  const notes = await readClone('CHANGELOG.md')
  await writeFile(join(clone, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n## 0.0.1 (2020-01-01)\n\n- Begun.\n')
  expect((await release('9.0.0')).stderr).toContain('The working tree has changes.')
  await git('switch', '--quiet', '--create', 'idea')
  expect((await release('9.0.0')).stderr).toContain('Releases are made on main, and this is idea.')
  await git('switch', '--quiet', 'main')
  await git('commit', '--quiet', '--all', '--message', 'docs: say nothing')
  expect((await release('9.0.0')).stderr).toContain('nothing under "## Unreleased"')
  await git('reset', '--quiet', '--hard', head)
  expect(await readClone('CHANGELOG.md')).toBe(notes)
  expect(await git('tag')).toBe('')
})

it('reverts its commit if packing fails', async () => {
  const head = await git('rev-parse', 'HEAD')
  await writeFile(join(clone, 'dist'), 'A file where the folder should be.')
  expect((await release('9.0.0')).code).not.toBe(0)
  await rm(join(clone, 'dist'))
  expect([await git('rev-parse', 'HEAD'), await git('tag'), await git('status', '--porcelain')]).toEqual([head, '', ''])
})

it('sets the version, writes the changelog, tags, and packs files with checksums', async () => {
  const notes = /## Unreleased\n\n(- .*)/.exec(await readClone('CHANGELOG.md'))?.[1] ?? ''
  expect(notes).not.toBe('')
  const made = await release('9.0.0')
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(await git('status', '--porcelain')).toBe('')
  expect(await git('log', '-1', '--format=%s')).toBe('release: 9.0.0')
  expect(await git('rev-parse', 'v9.0.0^{commit}')).toBe(await git('rev-parse', 'HEAD'))

  const changelog = await readClone('CHANGELOG.md')
  expect(changelog).toMatch(/^# Changelog\n\n## Unreleased\n\n## 9\.0\.0 \(\d{4}-\d\d-\d\d\)\n\n- /)
  expect(changelog).toContain(notes)
  expect(changelog).toMatch(/- exports: write one \([0-9a-f]+\)/)
  const lock = JSON.parse(await readClone('package-lock.json'))
  const versions = [lock.version, lock.packages[''].version, JSON.parse(await readClone('package.json')).version]
  expect([...versions, JSON.parse(await readClone('client/package.json')).version]).toEqual(Array(4).fill('9.0.0'))
  // Nothing else in the lock file changes.
  expect(await git('diff', '--shortstat', 'HEAD~1', 'HEAD', '--', 'package-lock.json')).toContain(
    '2 insertions(+), 2 del',
  )

  const dist = join(clone, 'dist/release')
  const sums = (await readFile(join(dist, 'SHA256SUMS'), 'utf8')).trim().split('\n')
  const files = ['earshot-9.0.0.cdx.json', 'earshot-9.0.0.tar.gz', 'earshot-client-9.0.0.tgz']
  expect((await readdir(dist)).sort()).toEqual(['SHA256SUMS', ...files])
  for (const [at, file] of files.entries()) {
    const digest = createHash('sha256')
      .update(await readFile(join(dist, file)))
      .digest('hex')
    expect(sums[at]).toBe(`${digest}  ${file}`)
  }
  const bill = JSON.parse(await readFile(join(dist, 'earshot-9.0.0.cdx.json'), 'utf8'))
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'earshot', version: '9.0.0' } } })
  const listed = bill.components.map(({ 'bom-ref': reference }: Record<string, string>) => reference)
  const { dependencies } = JSON.parse(await readClone('package.json'))
  const needed = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)
  expect(listed).toEqual(expect.arrayContaining(needed))
  expect(listed.filter((reference: string) => reference.startsWith('vitest@'))).toEqual([])
  const { stdout: packed } = await run('tar', ['--list', '--file', join(dist, 'earshot-9.0.0.tar.gz')])
  expect(packed.split('\n')).toEqual(
    expect.arrayContaining(['earshot-9.0.0/package.json', 'earshot-9.0.0/bin/earshot']),
  )

  expect((await release('9.0.0')).stderr).toContain('The tag v9.0.0 exists already.')
  expect((await release('8.9.9')).stderr).toContain('8.9.9 does not come after 9.0.0')
})
