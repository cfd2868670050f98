import type pg from 'pg'
import { checkPlacement, type PlacementCheck } from '../../platform/db/citus/check.ts'
import type { Called } from '../call.ts'
import { columns, plain, print, printJson } from '../columns.ts'
import { bytes } from './figures.ts'

const describeTables = ({ counts, misplaced, left }: PlacementCheck): string => {
  const lines = [
    `${counts.distributed} tables are distributed, ${counts.reference} are on every node, ${counts.local} on the coordinator.`,
    ...misplaced.map(({ table, is, shouldBe }) => `${table} is ${is} and should be ${shouldBe}.`),
  ]
  if (left.length > 0)
    lines.push(`Not placed yet (run bin/earshot db distribute): ${left.map(({ table }) => table).join(', ')}.`)
  return `${lines.join('\n')}\n`
}

const describeNodes = ({ nodes, skew }: PlacementCheck): string => {
  const rows = nodes.map(({ node, shardGroups, bytes: held, isReachable }) => [
    node,
    `${shardGroups} shards`,
    bytes(held),
    isReachable ? '' : 'unreachable',
  ])
  return `\n${columns(rows, [1, 2])}The fullest node stores ${skew.toFixed(2)} times the average.\n`
}

const describeLargest = ({ largest }: PlacementCheck): string => {
  const rows = largest.map(({ node, bytes: held, organizations }) => [
    bytes(held),
    node,
    organizations.map(({ slug }) => plain(slug)).join(', ') || 'no organization',
  ])
  return largest.length === 0 ? '' : `\nThe largest shards, with their organizations:\n${columns(rows, [0])}`
}

export const showCheck = async (called: Called, connection: pg.ClientConfig): Promise<number> => {
  const check = await checkPlacement(connection)
  if (called.flag('json')) printJson(check)
  else print(`${describeTables(check)}${describeNodes(check)}${describeLargest(check)}`)
  return check.misplaced.length === 0 && check.left.length === 0 && check.nodes.every((node) => node.isReachable)
    ? 0
    : 1
}
