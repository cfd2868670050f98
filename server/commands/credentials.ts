import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

type HandOver = { dataDir: string; printCredentials: boolean }

/**
 * Returns a text with credentials, to be printed on a terminal or if asked for. Elsewhere output is kept by whatever
 * collects logs, so they are written to a file for the user of the service only, and the text says where it is.
 */
export const handOver = async ({ dataDir, printCredentials }: HandOver, text: string): Promise<string> => {
  if (process.stdout.isTTY || printCredentials) return text
  const path = join(dataDir, 'credentials.txt')
  // A new file each time: one that is there already keeps its mode when it is written to.
  await rm(`${path}.new`, { force: true })
  await writeFile(`${path}.new`, text.trimStart(), { mode: 0o600, flag: 'wx' })
  await rename(`${path}.new`, path)
  return `
The sign-in link and the owner's API key are in ${path}. Delete the file after reading it.
To print them here instead, start with --print-credentials.
`
}
