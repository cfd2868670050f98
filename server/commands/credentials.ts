import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

type HandOver = { dataDir: string; printCredentials: boolean }

/**
 * Returns a text with credentials to print on a terminal or on request. Otherwise logs might store the output, so the
 * credentials are written to a file that only the service's user can read, and the text shows its path.
 */
export const handOver = async ({ dataDir, printCredentials }: HandOver, text: string): Promise<string> => {
  if (process.stdout.isTTY || printCredentials) return text
  const path = join(dataDir, 'credentials.txt')
  // A new file each time, because writing to an existing file keeps its mode.
  await rm(`${path}.new`, { force: true })
  await writeFile(`${path}.new`, text.trimStart(), { mode: 0o600, flag: 'wx' })
  await rename(`${path}.new`, path)
  return `
The sign-in link and the owner's API key are in ${path}. Delete the file after reading it.
To print them here instead, start with --print-credentials.
`
}
