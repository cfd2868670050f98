// Splits a migration, because a table on a cluster is first created, then placed, and only then refers to other tables.

import type pg from 'pg'
import { placingSettings } from './connection.ts'
import { listPlaced, placingStatement } from './placed-tables.ts'
import { placement } from './placement.ts'

/**
 * Matches the text that must be skipped: quotes and comments, which can contain any character, and whole words, so that
 * the last letter of a word is not read as the E of E'…'.
 */
const skipped =
  /--[^\n]*|\/\*[\s\S]*?\*\/|[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?\1|\w+/y

/** Splits text at separators outside quotes, comments, and parentheses. */
const splitAt = (text: string, separator: ';' | ','): string[] => {
  const parts: string[] = []
  let from = 0
  let depth = 0
  for (let at = 0; at < text.length; ) {
    const sign = text[at]
    if (sign === '(') depth++
    if (sign === ')') depth--
    if (sign === separator && depth === 0) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
    skipped.lastIndex = at
    at += skipped.exec(text)?.[0].length ?? 1
  }
  return [...parts, text.slice(from)]
}

const leadingComments = /^(?:\s+|--[^\n]*\n|\/\*[\s\S]*?\*\/)+/

/** Splits a migration into statements without the comments before them. */
export const splitStatements = (text: string): string[] =>
  splitAt(text, ';').flatMap((part) => {
    const statement = `${part}\n`.replace(leadingComments, '').trim()
    return statement === '' ? [] : [statement]
  })

export type NewTable = { table: string; create: string; foreignKeys: string[] }

/** Splits a statement that creates a table. Returns undefined if the table stays on the coordinator. */
export const readNewTable = (statement: string): NewTable | undefined => {
  const [head, table] = /^CREATE TABLE (?:IF NOT EXISTS )?(?:public\.)?(\w+)\s*\(/i.exec(statement) ?? []
  if (head === undefined || table === undefined || (placement[table] ?? 'local') === 'local') return undefined
  const end = statement.lastIndexOf(')')
  const items = splitAt(statement.slice(head.length, end), ',').map((item) => item.replace(leadingComments, '').trim())
  const isKey = (item: string) => /^CONSTRAINT \w+\s+FOREIGN KEY\b/i.test(item)
  return {
    table,
    create: `${head}\n${items.filter((item) => !isKey(item)).join('\n, ')}\n${statement.slice(end)}`,
    foreignKeys: items.filter(isKey).map((item) => `ALTER TABLE public.${table} ADD ${item}`),
  }
}

/** Splits the changes in an ALTER TABLE, because Citus requires a separate statement for each constraint. */
export const splitChanges = (statement: string): string[] => {
  const [head] = /^ALTER TABLE (?:ONLY )?[\w.]+\s/i.exec(statement) ?? []
  if (head === undefined) return [statement]
  return splitAt(statement.slice(head.length), ',').map((change) => `${head}${change.replace(leadingComments, '')}`)
}

/** Runs a migration in the caller's transaction on a database with placed tables. */
export const runOnCluster = async (client: pg.ClientBase, text: string): Promise<void> => {
  for (const setting of placingSettings) await client.query(setting)
  const anchor = (await listPlaced(client)).find(({ kind }) => kind === 'distributed')?.name
  for (const statement of splitStatements(text)) {
    const made = readNewTable(statement)
    for (const change of made ? [made.create] : splitChanges(statement)) await client.query(change)
    const placing = made && placingStatement(made.table, anchor)
    if (placing) await client.query(placing)
    for (const key of made?.foreignKeys ?? []) await client.query(key)
  }
}
