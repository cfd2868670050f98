import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

/** The path of the browser's executable, and its environment. */
export type Chromium = { executablePath: string; env: Record<string, string> }

const root = join(import.meta.dirname, '..')

/**
 * Unpacks Chromium from npm into a folder of this run. By default, the package uses a folder that all programs share.
 */
export const unpackChromium = async (folder: string): Promise<Chromium> => {
  const script = `import('@sparticuz/chromium').then(({ default: { executablePath } }) => executablePath()).then(console.log)`
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
    cwd: root,
    // This variable makes the package also unpack libraries that minimal machines don't have.
    env: { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' },
  })
  const fonts = join(folder, 'fonts.conf')
  await writeFile(fonts, `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`)
  const env = { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_FILE: fonts, HOME: folder, TMPDIR: folder }
  return { executablePath: stdout.trim(), env }
}

export const launchChromium = ({ executablePath, env }: Chromium): Promise<Browser> =>
  chromium.launch({
    executablePath,
    // Chromium's sandbox doesn't work for root.
    args: ['--no-sandbox', '--autoplay-policy=no-user-gesture-required'],
    env: { ...(process.env as Record<string, string>), ...env },
  })
