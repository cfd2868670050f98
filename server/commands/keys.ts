import type { Called, RunCommand } from './call.ts'
import { columns, day, plain, print, printJson } from './columns.ts'
import { connect } from './connect.ts'

const list = async (called: Called): Promise<number> => {
  const keys = await connect(called).earshot.apiKeys.list().all()
  if (called.flag('json')) return printJson(keys)
  const rows = keys.map(({ id, name, role, prefix, lastUsedAt, revokedAt }) => [
    id,
    `${prefix}…`,
    role,
    plain(name),
    lastUsedAt === null ? 'never used' : `used ${day(lastUsedAt)}`,
    revokedAt === null ? '' : 'revoked',
  ])
  return print(columns(rows))
}

const create = async (called: Called): Promise<number> => {
  const { text, args, flag } = called
  // The command line only accepts valid roles and requires the argument.
  const role = (text('role') ?? 'viewer') as 'viewer' | 'member' | 'admin' | 'owner'
  const made = await connect(called).earshot.apiKeys.create({ name: args[0] as string, role })
  return flag('json') ? printJson(made) : print(`${made.key}\n`)
}

export const run: RunCommand = async (called) => {
  if (called.action === 'list') return list(called)
  if (called.action === 'create') return create(called)
  // This import loads the whole service, which a remote command does not need.
  const { manage } = await import('./keys/operator.ts')
  return manage(called)
}
