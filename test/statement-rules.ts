// Finds parts of a statement that a Citus cluster would reject or send to every shard, without a cluster.
// ARCHITECTURE.md explains the rules under "Tenancy".

import { parseSync } from 'libpg-query'
import { placement } from '../server/platform/db/citus/placement.ts'

type Tree = { [key: string]: unknown }

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null

/** Returns every node of this kind that is not inside a node of the given kinds. */
const find = (tree: unknown, kind: string, exceptInside: string[] = []): Tree[] => {
  if (!isTree(tree)) return []
  return Object.entries(tree).flatMap(([name, value]) => {
    if (!isTree(value) || exceptInside.includes(name)) return []
    return name === kind ? [value, ...find(value, kind, exceptInside)] : find(value, kind, exceptInside)
  })
}

const textOf = (node: unknown): string => (isTree(node) && isTree(node.String) ? String(node.String.sval) : '')

const namesIn = (list: unknown): string[] => (Array.isArray(list) ? list.map(textOf) : [])

/** The distributed tables of one FROM, or of a change's target, by their aliases. */
type Level = { tables: Map<string, string>; conditions: Tree[] }

const addItem = (level: Level, item: Tree, hidden: Set<string>): void => {
  const { RangeVar: table, JoinExpr: join } = item
  if (isTree(table)) {
    const name = String(table.relname)
    if (hidden.has(name) || !(name in placement) || ['local', 'coordinator'].includes(placement[name] ?? '')) return
    level.tables.set(isTree(table.alias) ? String(table.alias.aliasname) : name, name)
  } else if (isTree(join)) {
    for (const side of [join.larg, join.rarg]) if (isTree(side)) addItem(level, side, hidden)
    if (isTree(join.quals)) level.conditions.push(join.quals)
  }
}

/** Returns the conditions that all have to be true. */
const conjunctsOf = (condition: Tree): Tree[] => {
  const { BoolExpr: combined } = condition
  if (!isTree(combined)) return [condition]
  if (combined.boolop !== 'AND_EXPR' || !Array.isArray(combined.args)) return []
  return combined.args.filter(isTree).flatMap(conjunctsOf)
}

type Side = { column: string } | { value: true }

const sideOf = (node: unknown, { tables }: Level): Side | undefined => {
  if (!isTree(node)) return undefined
  if (isTree(node.TypeCast)) return sideOf(node.TypeCast.arg, { tables, conditions: [] })
  if (isTree(node.ParamRef) || isTree(node.A_Const)) return { value: true }
  if (!isTree(node.ColumnRef)) return undefined
  const [first = '', second] = namesIn(node.ColumnRef.fields)
  if (second !== undefined) return { column: `${first}.${second}` }
  // An unqualified column belongs to the only table that has it.
  const owner = [...tables].find(([, name]) => placement[name] === 'distributed')
  return owner && { column: `${owner[0]}.${first}` }
}

/** Returns the columns that equal a value, directly or through other columns. */
const valuedColumns = (level: Level): Set<string> => {
  const valued = new Set<string>()
  const pairs: [string, string][] = []
  for (const [left, right] of equationsOf(level)) {
    if ('column' in left && 'column' in right) pairs.push([left.column, right.column])
    else if ('column' in left) valued.add(left.column)
    else if ('column' in right) valued.add(right.column)
  }
  for (let before = -1; before < valued.size; ) {
    before = valued.size
    const reached = pairs.filter((pair) => pair.some((column) => valued.has(column)))
    for (const column of reached.flat()) valued.add(column)
  }
  return valued
}

/** Returns the comparisons by `=` that each row has to pass. */
const equationsOf = (level: Level): [Side, Side][] =>
  level.conditions.flatMap(conjunctsOf).flatMap(({ A_Expr: comparison }): [Side, Side][] => {
    if (!isTree(comparison) || comparison.kind !== 'AEXPR_OP' || namesIn(comparison.name)[0] !== '=') return []
    const [left, right] = [sideOf(comparison.lexpr, level), sideOf(comparison.rexpr, level)]
    return left && right ? [[left, right]] : []
  })

type StatementFaults = { isOfOrganization: boolean; unbound: string[]; locks: string[] }

/** Returns the tables that a lock specifies. A lock without tables locks the rows of all. */
const lockedNames = ({ lockedRels }: Tree): string[] =>
  (Array.isArray(lockedRels) ? lockedRels : []).flatMap((each) =>
    isTree(each) && isTree(each.RangeVar) ? [String(each.RangeVar.relname)] : [],
  )

const judgeLevel = (level: Level, locking: Tree[], found: StatementFaults): void => {
  const valued = valuedColumns(level)
  const distributed = [...level.tables].filter(([, name]) => placement[name] === 'distributed')
  const [bound = [], unbound = []] = [true, false].map((isBound) =>
    distributed.filter(([alias]) => valued.has(`${alias}.organization_id`) === isBound),
  )
  if (bound.length > 0) found.isOfOrganization = true
  found.unbound.push(...unbound.map(([alias, name]) => (alias === name ? name : `${name} ${alias}`)))
  for (const lock of locking) {
    const named = lockedNames(lock)
    const locked = [...level.tables].filter(([alias]) => named.length === 0 || named.includes(alias))
    for (const [, name] of locked) if (placement[name] === 'reference') found.locks.push(`locks rows of ${name}`)
    if (locked.length > 0 && bound.length < distributed.length) found.locks.push('locks rows across shards')
  }
}

const lists = (tree: Tree, names: string[]): Tree[] =>
  names.flatMap((name) => (Array.isArray(tree[name]) ? (tree[name] as unknown[]).filter(isTree) : []))

/** Checks each SELECT, UPDATE, and DELETE separately. `hidden` has the names that the surrounding WITH defines. */
const visit = (tree: Tree, hidden: Set<string>, found: StatementFaults): void => {
  for (const [kind, node] of Object.entries(tree)) {
    if (!isTree(node)) continue
    const isStatement = /^(Select|Update|Delete|Insert)Stmt$/.test(kind) || kind === 'larg' || kind === 'rarg'
    if (!isStatement || isTree(node.RangeVar) || isTree(node.JoinExpr)) visit(node, hidden, found)
    else visitStatement(kind, node, hidden, found)
  }
}

const visitStatement = (kind: string, node: Tree, hidden: Set<string>, found: StatementFaults): void => {
  const inner = new Set(hidden)
  for (const { ctename } of find(node.withClause, 'CommonTableExpr', ['SelectStmt'])) inner.add(String(ctename))
  const level: Level = { tables: new Map(), conditions: [] }
  for (const item of lists(node, ['fromClause', 'usingClause'])) addItem(level, item, inner)
  if (kind !== 'InsertStmt' && isTree(node.relation)) addItem(level, { RangeVar: node.relation }, new Set())
  if (isTree(node.whereClause)) level.conditions.push(node.whereClause)
  judgeLevel(level, find(lists(node, ['lockingClause']), 'LockingClause'), found)
  visit(node, inner, found)
}

const callsIn = (tree: unknown, isImmutable: (name: string) => boolean): string[] => {
  const called = find(tree, 'FuncCall').map(({ funcname }) => namesIn(funcname).at(-1) ?? '')
  const current = find(tree, 'SQLValueFunction').map(() => 'a current time')
  return [...called.filter((name) => !isImmutable(name)), ...current]
}

const isSpread = (relation: unknown): boolean => {
  const where = isTree(relation) ? placement[String(relation.relname)] : undefined
  return where === 'distributed' || where === 'reference'
}

/** Returns what is wrong with a change: each node would call volatile functions separately. */
const judgeChange = (change: Tree, isImmutable: (name: string) => boolean): string[] => {
  if (!isSpread(change.relation)) return []
  const { onConflictClause: conflict, returningClause: returning, withClause: _before, ...rest } = change
  const own = Array.isArray(rest.selectStmt) || isTree(rest.selectStmt) ? { values: find(rest, 'List') } : rest
  const updated = isTree(conflict) ? conflict.targetList : undefined
  const chosen = ['CaseExpr', 'CoalesceExpr'].flatMap((kind) => find(own, kind, ['SubLink']))
  return [
    ...callsIn(updated, isImmutable).map((name) => `calls ${name} in DO UPDATE SET`),
    ...callsIn(returning, isImmutable).map((name) => `calls ${name} in RETURNING`),
    ...callsIn(chosen, isImmutable).map((name) => `calls ${name} in CASE or COALESCE of a change`),
  ]
}

/** Returns the rules that a statement breaks. Statements for all organizations may query every shard. */
export const brokenRules = (text: string, isImmutable: (name: string) => boolean): string[] => {
  const tree = parseSync(text) as unknown as Tree
  const found: StatementFaults = { isOfOrganization: false, unbound: [], locks: [] }
  visit(tree, new Set(), found)
  const changes = ['InsertStmt', 'UpdateStmt', 'DeleteStmt'].flatMap((kind) => find(tree, kind))
  return [
    ...new Set([
      ...(found.isOfOrganization ? found.unbound : []).map((table) => `compares ${table} with no organization`),
      ...found.locks,
      ...changes.flatMap((change) => judgeChange(change, isImmutable)),
    ]),
  ]
}
