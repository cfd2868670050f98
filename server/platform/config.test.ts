import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { baseUrlOf, ConfigError, loadConfig, requestPortOf } from './config.ts'

const faultsOf = (env: Record<string, string>): string[] => {
  try {
    loadConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}

const secret = 'a-secret-key-of-the-tests-0123456789'

it('the default configuration is complete: everything in one process, only on this machine', () => {
  expect(loadConfig({})).toMatchObject({
    port: 4000,
    host: '127.0.0.1',
    baseUrl: undefined,
    dataDir: resolve('.earshot'),
    databaseUrl: undefined,
    roles: ['http', 'worker'],
    storage: { kind: 'file', folder: undefined },
    trustProxy: 0,
    allowedPrivateAddresses: [],
    limits: {
      bodyBytes: 1_048_576,
      documentBytes: 4_194_304,
      batchBytes: 33_554_432,
      heldBytes: 268_435_456,
      bodiesPerAddress: 200,
      logoBytes: 2_097_152,
      ratePerSecond: 500,
      rateBurst: 2_000,
    },
  })
})

it('a process that only runs jobs listens on the given port, and on none by default', () => {
  const worker = { EARSHOT_ROLES: 'worker', EARSHOT_STORAGE_SHARED: 'true' }
  const portOf = (env: Record<string, string>) => loadConfig({ ...worker, ...env }).port
  expect(portOf({})).toBeUndefined()
  expect(portOf({ PORT: '' })).toBeUndefined()
  expect(portOf({ PORT: '0' })).toBe(0)
  expect(portOf({ PORT: '9100' })).toBe(9_100)
  expect(portOf({ EARSHOT_ROLES: 'http' })).toBe(4_000)
  expect(portOf({ EARSHOT_ROLES: 'worker,http' })).toBe(4_000)
  expect(portOf({ EARSHOT_ROLES: 'http', PORT: '9100' })).toBe(9_100)
})

it('links point to a process that serves requests, never to the health port of one that only runs jobs', () => {
  const worker = { EARSHOT_ROLES: 'worker', EARSHOT_STORAGE_SHARED: 'true' }
  const linkOf = (env: Record<string, string>) => {
    const config = loadConfig(env)
    return baseUrlOf(config, requestPortOf(config))
  }
  expect(linkOf({})).toBe('http://127.0.0.1:4000')
  expect(linkOf({ PORT: '5000' })).toBe('http://127.0.0.1:5000')
  expect(linkOf(worker)).toBe('http://127.0.0.1:4000')
  expect(linkOf({ ...worker, PORT: '9100' })).toBe('http://127.0.0.1:4000')
  expect(linkOf({ ...worker, PORT: '9100', EARSHOT_BASE_URL: 'https://ears.example.com' })).toBe(
    'https://ears.example.com',
  )
})

it('an empty value counts as unset', () => {
  expect(loadConfig({ PORT: '', EARSHOT_ROLES: '', DATABASE_URL: '', EARSHOT_LIMITS: '' })).toEqual(loadConfig({}))
})

describe('valid values', () => {
  it.each([
    ['PORT', '0', { port: 0 }],
    ['PORT', '65535', { port: 65_535 }],
    ['HOST', '::1', { host: '::1' }],
    ['EARSHOT_BASE_URL', 'https://earshot.example.com/', { baseUrl: 'https://earshot.example.com' }],
    ['EARSHOT_ROLES', 'worker, http', { roles: ['worker', 'http'] }],
    ['EARSHOT_STORAGE', 'file:/var/files', { storage: { kind: 'file', folder: '/var/files' } }],
    ['EARSHOT_STORAGE', 'file:///var/files', { storage: { kind: 'file', folder: '/var/files' } }],
    ['EARSHOT_STORAGE', 's3://bucket', { storage: { kind: 's3', bucket: 'bucket', prefix: '' } }],
    ['EARSHOT_STORAGE', 's3://bucket/a/b/', { storage: { kind: 's3', bucket: 'bucket', prefix: 'a/b' } }],
    [
      'EARSHOT_ALLOWED_PRIVATE_ADDRESSES',
      '10.1.0.0/16, fd00::/8',
      { allowedPrivateAddresses: ['10.1.0.0/16', 'fd00::/8'] },
    ],
    ['EARSHOT_TRUST_PROXY', '2', { trustProxy: 2 }],
    ['EARSHOT_SERVICE_KEY', secret, { serviceKey: secret }],
  ])('%s=%s', (name, text, expected) => {
    expect(loadConfig({ [name]: text })).toMatchObject(expected)
  })

  it('setting a limit keeps the others', () => {
    const { limits } = loadConfig({ EARSHOT_LIMITS: 'bodyBytes=5, rateBurst=7' })
    expect(limits).toEqual({ ...loadConfig({}).limits, bodyBytes: 5, rateBurst: 7 })
    const { judge } = loadConfig({ EARSHOT_JUDGE_LIMITS: 'concurrency=2' })
    expect(judge.limits).toEqual({ ...loadConfig({}).judge.limits, concurrency: 2 })
  })

  it('prices have names of models, which can contain almost anything', () => {
    const { prices } = loadConfig({ EARSHOT_JUDGE_PRICES: 'openai/gpt-oss:20b=0/0, a=b=0.25/2' }).judge
    expect([...prices]).toEqual([
      ['openai/gpt-oss:20b', { input: 0, output: 0 }],
      ['a=b', { input: 0.25, output: 2 }],
    ])
  })
})

describe('invalid values are reported by variable', () => {
  it.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '4000 '],
    ['PORT', '0x10'],
    ['PORT', '1e3'],
    ['HOST', 'a b'],
    ['EARSHOT_BASE_URL', 'earshot.example.com'],
    ['EARSHOT_BASE_URL', 'ftp://example.com'],
    ['EARSHOT_DATA_DIR', 'a\0b'],
    ['EARSHOT_ROLES', 'http,http'],
    ['EARSHOT_ROLES', 'http,chef'],
    ['EARSHOT_SERVICE_KEY', 'short'],
    ['EARSHOT_SERVICE_KEY', `${'a b'.repeat(20)}`],
    ['EARSHOT_SERVICE_KEY', 'x'.repeat(201)],
    ['EARSHOT_SECRET_KEY', 'short'],
    ['EARSHOT_STORAGE', '/var/files'],
    ['EARSHOT_STORAGE', 's3://Bucket'],
    ['EARSHOT_STORAGE', 's3://'],
    ['EARSHOT_STORAGE_SHARED', 'yes'],
    ['EARSHOT_JUDGE_PROVIDER', 'oracle'],
    ['EARSHOT_TRUST_PROXY', '11'],
    ['EARSHOT_METRICS_TOKEN', 'short'],
    ['EARSHOT_ALLOWED_PRIVATE_ADDRESSES', '10.0.0.1'],
    ['EARSHOT_ALLOWED_PRIVATE_ADDRESSES', '10.0.0.0/33'],
    ['EARSHOT_LIMITS', 'bodyBytes'],
    ['EARSHOT_LIMITS', 'bodyBytes=0'],
    ['EARSHOT_LIMITS', 'nonsense=1'],
    ['EARSHOT_LIMITS', 'constructor=1'],
    ['EARSHOT_LIMIT', 'bodyBytes=1'],
    ['EARSHOT_JUDGE_LIMITS', 'bodyBytes=1'],
    ['EARSHOT_JUDGE_PRICES', 'model=1'],
    ['EARSHOT_JUDGE_PRICES', 'model=1/-2'],
    ['EARSHOT_JUDGE_PRICES', 'model=1/2,'],
  ])('%s=%j', (name, text) => {
    expect(faultsOf({ [name]: text })).toEqual([expect.stringMatching(new RegExp(`^${name}: .+`))])
  })
})

it('all errors are reported at once, without secrets', () => {
  const faults = faultsOf({
    PORT: 'http',
    EARSHOT_ROLES: 'chef',
    EARSHOT_NONSENSE: '1',
    EARSHOT_SERVICE_KEY: 'hidden',
    EARSHOT_SMTP_URL: 'http://user:hidden@mail.example.com',
    DATABASE_URL: 'mysql://user:hidden@db.example.com/x',
  })
  expect(faults.map((fault) => fault.split(':')[0]).sort()).toEqual([
    'DATABASE_URL',
    'EARSHOT_NONSENSE',
    'EARSHOT_ROLES',
    'EARSHOT_SECRET_KEY',
    'EARSHOT_SERVICE_KEY',
    'EARSHOT_SMTP_URL',
    'PORT',
  ])
  expect(faults.join()).not.toContain('hidden')
})

describe('combinations', () => {
  const database = { DATABASE_URL: 'postgres://db.example.com/earshot', EARSHOT_SECRET_KEY: secret }

  it('an external database requires a secret key', () => {
    expect(faultsOf({ DATABASE_URL: database.DATABASE_URL })).toEqual([expect.stringMatching(/^EARSHOT_SECRET_KEY: /)])
    expect(faultsOf(database)).toEqual([])
  })

  it('separate roles require shared storage', () => {
    const split = { ...database, EARSHOT_ROLES: 'http' }
    expect(faultsOf(split)).toEqual([expect.stringMatching(/^EARSHOT_STORAGE_SHARED: /)])
    expect(faultsOf({ ...split, EARSHOT_STORAGE_SHARED: 'true' })).toEqual([])
    expect(faultsOf({ ...split, EARSHOT_STORAGE: 's3://bucket' })).toEqual([])
  })
})
