import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Opens an unlinked file, which disappears when it is closed or the process dies. */
export const openNamelessFile = async (): Promise<FileHandle> => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-'))
  try {
    return await open(join(folder, 'file'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
