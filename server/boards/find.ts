// Finds both stored boards and built-in boards.

import { listMonitors } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { notFound } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { builtInBoards, isBuiltIn, mostMonitorsShown } from './built-in.ts'
import { getBoard } from './queries.ts'
import type { Chart } from './schema.ts'

/** The organization that the board belongs to, and its entitlements for measures. */
export type Owner = Pick<Actor, 'entitlements'> & { org: OrgId }

type Stored = Awaited<ReturnType<typeof getBoard>>

/** Charts were checked when they were stored. */
export const shown = (board: Stored) => ({ ...board, isBuiltIn: false, charts: board.charts as Chart[] })

export const listBuiltIn = async (db: Db, owner: Owner) => {
  const page = { limit: mostMonitorsShown, after: undefined }
  const monitors = await listMonitors(db, owner.org, { enabled: true }, page)
  return builtInBoards(owner, monitors.slice(0, mostMonitorsShown))
}

export const findBoard = async (db: Db, owner: Owner, id: string) => {
  if (!isBuiltIn(id)) return shown(await getBoard(db, owner.org, id))
  const board = (await listBuiltIn(db, owner)).find((each) => each.id === id.toLowerCase())
  if (!board) throw notFound()
  return board
}
