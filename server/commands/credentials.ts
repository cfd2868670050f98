import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

type HandOver = { dataDir: string; printCredentials: boolean }

/**
 * Returns a message with credentials if it is printed on a terminal or if the operator asked for it. Otherwise, logs
 * might store the output. In that case, writes the credentials to a file that only the service's user can read, and
 * returns a message with its path.
 */
export const handOver = async ({ dataDir, printCredentials }: HandOver, text: string): Promise<string> => {
  if (process.stdout.isTTY || printCredentials) return text
  const path = join(dataDir, 'credentials.txt')
  // The file must be new, because an existing one keeps its mode.
  await rm(`${path}.new`, { force: true })
  await writeFile(`${path}.new`, text.trimStart(), { mode: 0o600, flag: 'wx' })
  await rename(`${path}.new`, path)
  return `
The sign-in link and the owner's API key are in ${path}. Delete the file after reading it.
To print them here instead, start with --print-credentials.
`
}
