// Connections to a cluster. Citus 14 leaks the plan of a named statement on each use, about 40 kB, if the connected
// node has the rows and the organization is a parameter, or if the statement is an INSERT.

import type pg from 'pg'
import type { OrgId } from '../database.ts'
import { NamingClient } from '../naming-client.ts'
import { notifyText } from '../notify.ts'
import { tablesOfKind } from './placed-tables.ts'

const insertsOnCoordinator = new RegExp(`^\\s*insert into "?(${tablesOfKind('coordinator').join('|')})"? `, 'i')

/** A connection to the coordinator. It only has the rows of a few tables. */
export class CoordinatorClient extends NamingClient {
  protected override nameOf(text: string): string | undefined {
    return insertsOnCoordinator.test(text) ? undefined : super.nameOf(text)
  }
}

/** The text of a statement, split where the organization is a parameter, and the remaining parameters. */
type Shape = { parts: string[]; places: number[]; others: number[] }

const maxShapes = 1_000
const maxTextLength = 10_000
const shapes = new Map<string, Shape>()

const readShape = (text: string, values: unknown[], org: OrgId): Shape => {
  const shape: Shape = { parts: [''], places: [], others: [] }
  const append = (more: string) => shape.parts.push(shape.parts.pop() + more)
  // Every second piece is the number of a parameter.
  for (const [at, piece] of text.split(/\$(\d+)/).entries()) {
    const index = Number(piece) - 1
    if (at % 2 === 0) {
      append(piece)
    } else if (values[index] === org) {
      shape.parts.push('')
      if (!shape.places.includes(index)) shape.places.push(index)
    } else {
      if (!shape.others.includes(index)) shape.others.push(index)
      append(`$${shape.others.indexOf(index) + 1}`)
    }
  }
  return shape
}

const findShape = (text: string, values: unknown[], org: OrgId): Shape | undefined => {
  const known = shapes.get(text)
  if (known || shapes.size >= maxShapes || text.length > maxTextLength) return known
  const shape = readShape(text, values, org)
  shapes.set(text, shape)
  return shape
}

/** The maximum number of plans that a connection keeps. A plan needs about 50 kB. */
const maxPlans = 300

export type Notice = [channel: string, payload: string]

type NodeOptions = pg.ClientConfig & { onCommitted?: (notices: Notice[]) => void }

/**
 * A connection to a node, used for one organization at a time. Statements contain the organization's ID instead of a
 * parameter, so that Citus plans them for the shard and PostgreSQL keeps the plan.
 *
 * Processes listen on the coordinator, so notifications are sent there after the transaction has committed.
 */
export class NodeClient extends NamingClient {
  organization: OrgId | undefined
  readonly #onCommitted: NodeOptions['onCommitted'] | undefined
  readonly #names = new Map<string, string>()
  #isInTransaction = false
  #notices: Notice[] = []

  constructor(options?: string | NodeOptions) {
    super(options)
    this.#onCommitted = typeof options === 'object' ? options.onCommitted : undefined
  }

  protected override nameOf(text: string): string | undefined {
    const known = this.#names.get(text)
    if (known || this.#names.size >= maxPlans || !this.#isPlannedForShard(text)) return known
    const name = `n${this.#names.size + 1}`
    this.#names.set(text, name)
    return name
  }

  #isPlannedForShard(text: string): boolean {
    const isKept = insertsOnCoordinator.test(text) || !/^\s*insert\b/i.test(text)
    return isKept && text.length <= maxTextLength && text.includes(`'${this.organization}'`)
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares ten overloads, like for NamingClient
  override query(config: any, values?: any, callback?: any): any {
    if (typeof config !== 'string' || !Array.isArray(values) || callback) return super.query(config, values, callback)
    if (config === notifyText) return this.#notify(values as Notice)
    if (config === 'commit') return this.#commit()
    if (config === 'rollback') this.#end()
    if (config === 'begin' || config.startsWith('start transaction')) this.#isInTransaction = true
    return this.#queryShard(config, values)
  }

  #queryShard(text: string, values: unknown[]) {
    const org = this.organization
    const shape = org && findShape(text, values, org)
    // Another call of the same statement can have the organization in other positions.
    if (!shape?.places.every((place) => values[place] === org)) return super.query(text, values)
    return super.query(
      shape.parts.join(`'${org}'`),
      shape.others.map((index) => values[index]),
    )
  }

  #notify(notice: Notice) {
    if (this.#isInTransaction) this.#notices.push(notice)
    else this.#onCommitted?.([notice])
    return Promise.resolve({ command: 'SELECT', rowCount: 1, rows: [] })
  }

  /** Returns the transaction's notifications. */
  #end(): Notice[] {
    const notices = this.#notices
    this.#notices = []
    this.#isInTransaction = false
    return notices
  }

  async #commit() {
    const notices = this.#end()
    const result = await super.query('commit', [])
    if (result.command === 'COMMIT' && notices.length > 0) this.#onCommitted?.(notices)
    return result
  }
}
