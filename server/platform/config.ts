import { roles, type Switch, switches } from './switches.ts'

type Values = { [Name in keyof typeof switches]: (typeof switches)[Name]['fallback'] }

/** A configuration that uses OpenID Connect must have all of these. */
const requiredOfOidc = ['EARSHOT_OIDC_ISSUER', 'EARSHOT_OIDC_CLIENT_ID', 'EARSHOT_OIDC_CLIENT_SECRET']

const oidcOf = ({
  EARSHOT_OIDC_ISSUER: issuer,
  EARSHOT_OIDC_CLIENT_ID: clientId,
  EARSHOT_OIDC_CLIENT_SECRET: clientSecret,
  EARSHOT_OIDC_TRUST_EMAIL: trustEmail,
}: Values) => (issuer && clientId && clientSecret ? { issuer, clientId, clientSecret, trustEmail } : undefined)

export type Oidc = NonNullable<ReturnType<typeof oidcOf>>

const toConfig = (values: Values, env: NodeJS.ProcessEnv) => ({
  /** A process that only runs jobs opens no port by default, so that it can start next to one that serves requests. */
  port: values.EARSHOT_ROLES.includes('http') || env.PORT ? values.PORT : undefined,
  host: values.HOST,
  baseUrl: values.EARSHOT_BASE_URL,
  dataDir: values.EARSHOT_DATA_DIR,
  databaseUrl: values.DATABASE_URL,
  readDatabaseUrl: values.EARSHOT_READ_DATABASE_URL,
  readMaxLagMs: values.EARSHOT_READ_MAX_LAG_SECONDS * 1_000,
  roles: values.EARSHOT_ROLES,
  drainSeconds: values.EARSHOT_DRAIN_SECONDS,
  serviceKey: values.EARSHOT_SERVICE_KEY,
  secretKey: values.EARSHOT_SECRET_KEY,
  storage: values.EARSHOT_STORAGE,
  s3Endpoint: values.EARSHOT_S3_ENDPOINT,
  judge: {
    provider: values.EARSHOT_JUDGE_PROVIDER,
    baseUrl: values.EARSHOT_JUDGE_BASE_URL,
    apiKey: values.EARSHOT_JUDGE_API_KEY,
    model: values.EARSHOT_JUDGE_MODEL,
    limits: values.EARSHOT_JUDGE_LIMITS,
    prices: values.EARSHOT_JUDGE_PRICES,
  },
  embeddings: values.EARSHOT_EMBEDDINGS,
  smtp: values.EARSHOT_SMTP_URL,
  oidc: oidcOf(values),
  telemetry: {
    endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    serviceName: values.OTEL_SERVICE_NAME,
    share: values.OTEL_TRACES_SAMPLER_ARG,
    metricIntervalMs: values.OTEL_METRIC_EXPORT_INTERVAL,
  },
  trustProxy: values.EARSHOT_TRUST_PROXY,
  metricsToken: values.EARSHOT_METRICS_TOKEN,
  allowedPrivateAddresses: values.EARSHOT_ALLOWED_PRIVATE_ADDRESSES,
  limits: values.EARSHOT_LIMITS,
  client: { url: values.EARSHOT_URL, key: values.EARSHOT_KEY },
})

export type Config = ReturnType<typeof toConfig>

/**
 * Returns the port for links. A process that only runs jobs serves nothing but its health checks, so its links use the
 * default port.
 */
export const requestPortOf = ({ roles, port }: Pick<Config, 'roles' | 'port'>): number =>
  roles.includes('http') && port !== undefined ? port : switches.PORT.fallback

/** Returns the host for links. A browser can't open the address that stands for all interfaces. */
const hostOfLinks = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** Returns the public URL: the configured one, or one with the port that this process listens on. */
export const baseUrlOf = ({ baseUrl, host }: Pick<Config, 'baseUrl' | 'host'>, port: number): string =>
  baseUrl ?? `http://${hostOfLinks(host)}:${port}`

export class ConfigError extends Error {
  readonly faults: string[]

  constructor(faults: string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'an error' : `${faults.length} errors`}:\n  ${faults.join('\n  ')}`,
    )
    this.name = 'ConfigError'
    this.faults = faults
  }
}

const readSwitch = (name: string, definition: Switch<unknown>, text: string | undefined) => {
  if (!text) return { value: definition.fallback }
  const value = definition.read(text)
  if (value !== undefined) return { value }
  const given = definition.secret ? 'invalid value' : `invalid value ${JSON.stringify(text.slice(0, 200))}`
  return { value, fault: `${name}: ${given}; expected ${definition.expects}` }
}

const faultsOfNames = (env: NodeJS.ProcessEnv): string[] =>
  Object.keys(env)
    .filter((name) => name.startsWith('EARSHOT_') && !Object.hasOwn(switches, name))
    .map((name) => `${name}: unknown variable; docs/configuration.md lists them`)

/** Returns an error for each unset variable that another variable requires. */
const faultsOfUnset = (env: NodeJS.ProcessEnv): string[] => {
  const faults: string[] = []
  if (env.DATABASE_URL && !env.EARSHOT_SECRET_KEY) {
    faults.push('EARSHOT_SECRET_KEY: required with DATABASE_URL; expected 32 to 200 visible characters')
  }
  const unset = requiredOfOidc.filter((name) => !env[name])
  if (unset.length > 0 && Object.keys(env).some((name) => name.startsWith('EARSHOT_OIDC_') && env[name])) {
    faults.push(`${unset.join(', ')}: required with the other EARSHOT_OIDC_… variables`)
  }
  return faults
}

/** Reads all variables and reports all errors at once. An empty value counts as unset. */
export const loadConfig = (env: NodeJS.ProcessEnv = process.env): Config => {
  const values: Record<string, unknown> = {}
  const faults: string[] = []
  for (const [name, definition] of Object.entries<Switch<unknown>>(switches)) {
    const { value, fault } = readSwitch(name, definition, env[name])
    values[name] = value
    if (fault !== undefined) faults.push(fault)
  }
  faults.push(...faultsOfNames(env), ...faultsOfUnset(env))
  if (faults.length > 0) throw new ConfigError(faults)
  const config = toConfig(values as Values, env)
  if (config.roles.length < roles.length && config.storage.kind === 'file' && !values.EARSHOT_STORAGE_SHARED) {
    throw new ConfigError([
      'EARSHOT_STORAGE_SHARED: with separate roles, `file:` storage must be a folder that all processes share; ' +
        'expected `true` to confirm that, or EARSHOT_STORAGE=s3://bucket/prefix',
    ])
  }
  return config
}
