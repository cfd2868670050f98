// Creates a release of the current commit: npm run release -- VERSION [--dry-run]. Sets the version, replaces
// "Unreleased" in the changelog with the version's notes and all commits since the last release, commits and tags that,
// and packs the source, the client, and a list of dependencies (SBOM) with checksums into dist/release. Pushing is up
// to you.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'dist/release')
const maxBuffer = 256 * 1024 * 1024

const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer, stdio: ['ignore', 'pipe', 'inherit'] }).trim()

class Refusal extends Error {}

const numbersOf = (version: string): number[] => version.split('.').map(Number)

/** Returns whether `version` is newer than `before`. */
const isLater = (version: string, before: string): boolean => {
  const old = numbersOf(before)
  const differing = numbersOf(version).findIndex((number, at) => number !== old[at])
  return differing >= 0 && (numbersOf(version)[differing] ?? 0) > (old[differing] ?? 0)
}

const readVersion = (): string => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version

const checkVersion = (version: string | undefined): string => {
  if (version === undefined || !/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.test(version)) {
    throw new Refusal('Name the version to release, such as npm run release -- 1.2.0.')
  }
  const tags = run('git', 'tag', '--list', 'v*').split('\n').filter(Boolean)
  if (tags.includes(`v${version}`)) throw new Refusal(`The tag v${version} exists already.`)
  const latest = readVersion()
  // The first release can have the version already in package.json.
  if (!isLater(version, latest) && !(tags.length === 0 && version === latest)) {
    throw new Refusal(`${version} does not come after ${latest}, the version in package.json.`)
  }
  return version
}

const unreleased = /^## Unreleased\n\n([\s\S]*?)(?=^## |$(?![\s\S]))/m

/** Returns commits since the last release, grouped and sorted by area. */
const listCommits = (): string => {
  const last = run('git', 'tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname').split('\n')[0]
  const subjects = run('git', 'log', '--reverse', '--format=%s (%h)', ...(last ? [`${last}..HEAD`] : [])).split('\n')
  return subjects
    .toSorted((a, b) => (a.split(':')[0] ?? '').localeCompare(b.split(':')[0] ?? '', 'en'))
    .map((subject) => `- ${subject}\n`)
    .join('')
}

const writeChangelog = (changelog: string, version: string): string => {
  const notes = unreleased.exec(changelog)?.[1]?.trim()
  if (!notes) throw new Refusal('CHANGELOG.md has nothing under "## Unreleased". Describe the changes for users there.')
  const date = new Date().toISOString().slice(0, 10)
  const commits = `<details>\n<summary>Every commit</summary>\n\n${listCommits()}\n</details>`
  return changelog.replace(unreleased, () => `## Unreleased\n\n## ${version} (${date})\n\n${notes}\n\n${commits}\n\n`)
}

/** Writes the version. Only the first one in each file is the package's own. */
const writeVersion = (version: string): void => {
  for (const file of ['package.json', 'client/package.json', 'package-lock.json']) {
    const path = join(root, file)
    const text = readFileSync(path, 'utf8').replace(/"version": "[^"]*"/, `"version": "${version}"`)
    writeFileSync(path, text)
  }
  const path = join(root, 'package-lock.json')
  const lock = JSON.parse(readFileSync(path, 'utf8'))
  lock.packages[''].version = version
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
}

/**
 * Returns the SBOM, which npm names after the folder. Development dependencies are removed first, because `npm sbom
 * --omit dev` also omits packages that production needs too.
 */
const listDependencies = (): string => {
  const stage = mkdtempSync(join(tmpdir(), 'earshot-release-'))
  try {
    const named = join(stage, 'earshot')
    mkdirSync(named)
    const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    writeFileSync(join(named, 'package.json'), JSON.stringify(manifest))
    copyFileSync(join(root, 'package-lock.json'), join(named, 'package-lock.json'))
    const npm = (...args: string[]) => run('npm', ...args, '--prefix', named, '--package-lock-only', '--loglevel=error')
    npm('install', '--offline', '--ignore-scripts')
    return npm('sbom', '--sbom-format', 'cyclonedx')
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

const pack = (version: string, commit: string): string[] => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const name = `earshot-${version}`
  run('git', 'archive', '--format=tar.gz', `--prefix=${name}/`, `--output=${join(folder, `${name}.tar.gz`)}`, commit)
  run(process.execPath, join(root, 'tools/build-client.ts'), folder)
  writeFileSync(join(folder, `${name}.cdx.json`), `${listDependencies()}\n`)
  const files = readdirSync(folder).toSorted()
  const sums = files.map((file) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex')
    return `${digest}  ${file}\n`
  })
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  return [...files, 'SHA256SUMS']
}

/** Packs the release. The files must exist before the release is tagged, so the version is undone if packing fails. */
const packOrUndo = (version: string): string[] => {
  try {
    return pack(version, 'HEAD')
  } catch (error) {
    run('git', 'reset', '--quiet', '--hard', 'HEAD~1')
    throw error
  }
}

const release = (given: string | undefined, dryRun: boolean): void => {
  const version = checkVersion(given)
  const branch = run('git', 'branch', '--show-current')
  if (branch !== 'main') throw new Refusal(`Releases are made on main, and this is ${branch || 'no branch'}.`)
  if (run('git', 'status', '--porcelain') !== '') throw new Refusal('The working tree has changes. Commit them first.')
  const path = join(root, 'CHANGELOG.md')
  const changelog = writeChangelog(readFileSync(path, 'utf8'), version)
  if (dryRun) {
    process.stdout.write(changelog.slice(0, changelog.indexOf('</details>')))
    return
  }
  writeFileSync(path, changelog)
  writeVersion(version)
  run('git', 'commit', '--quiet', '--all', '--message', `release: ${version}`)
  const files = packOrUndo(version)
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Earshot ${version}`)
  process.stdout.write(`${files.map((file) => join(folder, file)).join('\n')}\n`)
  process.stdout.write(`Committed and tagged. To publish: git push --follow-tags, then attach these files.\n`)
}

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false } },
  allowPositionals: true,
})
try {
  release(positionals[0], values['dry-run'])
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`${error.message}\nNothing was changed.\n`)
  process.exitCode = 1
}
