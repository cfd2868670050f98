// Finds phrases that read like a translation in documentation, strings, and comments, and suggests replacements: node
// tools/check-words.ts [PATHSPEC…].

import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFaults } from './words/find-faults.ts'

const root = join(import.meta.dirname, '..')
const files = execFileSync('git', ['ls-files', '--', ...process.argv.slice(2)], { cwd: root, encoding: 'utf8' })
const paths = files.trim().split('\n')

const faults = await Promise.all(paths.map(async (path) => findFaults(path, await readFile(join(root, path), 'utf8'))))
if (faults.flat().length > 0) {
  console.error(faults.flat().join('\n'))
  process.exitCode = 1
}
