import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inheritedEnvironment } from '../test/inherited.ts'

const root = join(import.meta.dirname, '..')

export type Demo = { child: ChildProcess; origin: string; invitation: string; key: string }

/** Starts the server with demo data, and resolves once all of the data is stored. */
export const startDemo = (dataDir: string, calls: number, switches: Record<string, string> = {}) => {
  const child = spawn(join(root, 'bin/earshot'), ['demo', '--print-credentials', '--calls', String(calls)], {
    cwd: tmpdir(),
    env: { ...inheritedEnvironment(), PORT: '0', EARSHOT_DATA_DIR: dataDir, ...switches },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return new Promise<Demo>((resolve, reject) => {
    let text = ''
    const read = (part: Buffer) => {
      text += part
      const demo = text.slice(text.indexOf('\nDemo\n'))
      const [origin, invitation, key] = [
        /ready at (\S+)/.exec(text)?.[1],
        /Sign in\s+\S+#(\S+)/.exec(demo)?.[1],
        /Owner key\s+(\S+)/.exec(demo)?.[1],
      ]
      if (text.includes('The demo is loaded') && origin && invitation && key)
        resolve({ child, origin, invitation, key })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`the demo ended with ${code}:\n${text}`)))
  })
}
