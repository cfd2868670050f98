import type { DBAdapter, Where } from 'better-auth/adapters'
import { hashKey } from '../platform/identity/keys.ts'

type Adapter = Omit<DBAdapter, 'transaction'>

/** Returns the conditions with the hash in place of the token, and the token itself. */
const hashed = (model: string, where: Where[] = []) => {
  let token: string | undefined
  const conditions = where.map((condition) => {
    if (model !== 'session' || condition.field !== 'token') return condition
    if (typeof condition.value !== 'string' || (condition.operator ?? 'eq') !== 'eq') {
      throw new Error('Sessions can only be looked up by a single token; see hashed-tokens.ts')
    }
    token = condition.value
    return { ...condition, value: hashKey(condition.value) }
  })
  return { where: conditions, token }
}

const hashTokens = <A extends Adapter>(adapter: A): A => ({
  ...adapter,
  create: async (call) => {
    const { token } = call.data as { token?: unknown }
    if (call.model !== 'session' || typeof token !== 'string') return adapter.create(call)
    const created = await adapter.create({ ...call, data: { ...call.data, token: hashKey(token) } })
    // The library sets the cookie to the token in the returned row.
    return { ...created, token }
  },
  findOne: async <T>(call: Parameters<A['findOne']>[0]) => {
    const { where, token } = hashed(call.model, call.where)
    const found = await adapter.findOne<T>({ ...call, where })
    return found && token !== undefined ? { ...found, token } : found
  },
  findMany: (call) => adapter.findMany({ ...call, ...hashed(call.model, call.where) }),
  count: (call) => adapter.count({ ...call, ...hashed(call.model, call.where) }),
  update: (call) => adapter.update({ ...call, ...hashed(call.model, call.where) }),
  updateMany: (call) => adapter.updateMany({ ...call, ...hashed(call.model, call.where) }),
  delete: (call) => adapter.delete({ ...call, ...hashed(call.model, call.where) }),
  deleteMany: (call) => adapter.deleteMany({ ...call, ...hashed(call.model, call.where) }),
})

/**
 * Replaces session tokens with their hashes between the library and its tables. The library stores tokens in plaintext
 * and has no option to change that, but a copy of the database must not grant access.
 */
export const withHashedTokens = (adapter: DBAdapter): DBAdapter => ({
  ...hashTokens(adapter),
  transaction: (run) => adapter.transaction((trx) => run(hashTokens(trx))),
})
