import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { updateProgress } from './queries.ts'

const everyMs = 500

type Watched = { org: OrgId; id: string; blobKey: string }

/** Stores how far an attempt is, and aborts it as soon as the export is no longer its own. */
export const watchProgress = ({ db, log }: Deps, { org, id, blobKey }: Watched, ended: AbortController) => {
  let rows = 0
  let busy = false
  const store = async () => {
    if (busy) return
    busy = true
    try {
      if (!(await updateProgress(db, org, id, blobKey, rows))) ended.abort(new Error('The export was ended'))
    } catch (error) {
      // The database may be away for a moment; what generates will meet that itself.
      log.warn({ err: error }, 'the progress of an export could not be stored')
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => void store(), everyMs)
  return {
    onProgress: (written: number) => {
      rows = written
    },
    close: () => clearInterval(timer),
  }
}
