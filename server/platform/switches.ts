import { isAbsolute, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { readSmtpUrl, type Smtp, smtpUrlForm } from './mail/smtp-url.ts'

/** A switch: how its text is read, what it holds when unset, and what the documentation says of it. */
export type Switch<T> = {
  about: string
  /** Completes "expected …" in a fault and in the documentation. */
  expects: string
  /** Undefined marks a text that does not fit. */
  read: (text: string) => T | undefined
  fallback: T
  /** How the default reads where the value itself says too little. */
  fallbackText?: string
  secret?: true
}

const define = <T>(definition: Switch<T>): Switch<T> => definition

const integer = (minimum: number, maximum: number) => ({
  expects: `a whole number from ${minimum} to ${maximum}`,
  read: (text: string) => {
    const value = Number(text)
    return /^\d+$/.test(text) && value >= minimum && value <= maximum ? value : undefined
  },
})

const url = (...protocols: string[]) => ({
  expects: `a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  read: (text: string) =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol) ? text.replace(/\/+$/, '') : undefined,
})

const visibleText = (minimum: number, maximum: number) => ({
  expects: `${minimum} to ${maximum} visible characters`,
  read: (text: string) => (new RegExp(`^[\\x21-\\x7e]{${minimum},${maximum}}$`).test(text) ? text : undefined),
})

export const roles = ['http', 'worker'] as const
type ProcessRole = (typeof roles)[number]

type Storage = { kind: 'file'; folder: string | undefined } | { kind: 's3'; bucket: string; prefix: string }

const readStorage = (text: string): Storage | undefined => {
  const s3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text)
  if (s3) return { kind: 's3', bucket: s3[1] as string, prefix: (s3[2] ?? '').replace(/\/*$/, '') }
  if (!text.startsWith('file:')) return undefined
  const folder = text.slice('file:'.length).replace(/^\/\/(?=\/)/, '')
  return { kind: 'file', folder: folder === '' ? undefined : resolve(folder) }
}

const mebibytes = 1024 * 1024
const defaultLimits = {
  bodyBytes: 1 * mebibytes,
  documentBytes: 4 * mebibytes,
  batchBytes: 32 * mebibytes,
  heldBytes: 256 * mebibytes,
  bodiesPerAddress: 200,
  logoBytes: 2 * mebibytes,
  recordingBytes: 512 * mebibytes,
  metadataBytes: 64 * 1024,
  exportSeconds: 1_800,
  ratePerSecond: 500,
  rateBurst: 2_000,
}
type Limits = typeof defaultLimits

/** One switch for many numbers, each with its default. */
const numbers = <T extends Record<string, number>>(defaults: T) => ({
  expects: `name=number pairs separated by commas; the names are ${Object.keys(defaults).join(', ')}`,
  read: (text: string): T | undefined => {
    const chosen: Record<string, number> = { ...defaults }
    for (const part of text.split(',')) {
      const [name, value, ...more] = part.split('=').map((side) => side.trim())
      if (more.length > 0 || !name || !Object.hasOwn(chosen, name) || !/^[1-9]\d{0,11}$/.test(value ?? ''))
        return undefined
      chosen[name] = Number(value)
    }
    // The same names as the defaults have.
    return chosen as T
  },
  fallback: defaults,
  fallbackText: Object.entries(defaults)
    .map(([name, value]) => `\`${name}=${value}\``)
    .join(', '),
})

const defaultJudgeLimits = {
  contextTokens: 32_000,
  windows: 20,
  monitorsPerRequest: 1,
  concurrency: 8,
  attempts: 5,
  timeoutMs: 120_000,
}

/** In US dollars for a million tokens. */
type Price = { input: number; output: number }

const readPrices = (text: string): Map<string, Price> | undefined => {
  const prices = new Map<string, Price>()
  for (const part of text.split(',')) {
    const [, model, input, output] = /^\s*([\x21-\x7e]+)=(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)\s*$/.exec(part) ?? []
    if (model === undefined) return undefined
    prices.set(model, { input: Number(input), output: Number(output) })
  }
  return prices
}

/** The one list of switches: it is read, checked and documented from here. */
export const switches = {
  PORT: define({
    about:
      'Port of the HTTP server; 0 takes a free one. A process with `EARSHOT_ROLES=worker` answers `/healthz`, `/readyz` and `/metrics` ' +
      'there, and opens no port where none is given.',
    ...integer(0, 65_535),
    fallback: 4000,
  }),
  HOST: define({
    about: 'Address that the HTTP server listens on.',
    expects: 'an IP address or a host name',
    read: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
    fallback: '127.0.0.1',
  }),
  EARSHOT_BASE_URL: define<string | undefined>({
    about: 'The address under which people and programs reach this service; links are made from it.',
    ...url('http:', 'https:'),
    fallback: undefined,
    fallbackText:
      '`http://HOST:PORT`, with `localhost` where HOST is every address, and port 4000 in a process with `EARSHOT_ROLES=worker`',
  }),
  EARSHOT_DATA_DIR: define({
    about: 'Folder of the embedded database, of local files and of the generated secret key.',
    expects: 'a path',
    read: (text) => (text.includes('\0') ? undefined : isAbsolute(text) ? text : resolve(text)),
    fallback: resolve('.earshot'),
    fallbackText: '`./.earshot`',
  }),
  DATABASE_URL: define<string | undefined>({
    about: 'An external PostgreSQL (16 or newer) in place of the embedded one. Needs EARSHOT_SECRET_KEY.',
    ...url('postgres:', 'postgresql:'),
    fallback: undefined,
    fallbackText: 'embedded',
    secret: true,
  }),
  EARSHOT_READ_DATABASE_URL: define<string | undefined>({
    about: 'A read replica for exports and analytics.',
    ...url('postgres:', 'postgresql:'),
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_READ_MAX_LAG_SECONDS: define({
    about:
      'How old the answers of analytics from the read replica may be: counts, trends, comparisons, agreement, and results ' +
      'of experiments. If the replica is further behind, the primary answers. With 0, only exports use the replica, which ' +
      'always wait until it is up to date.',
    ...integer(0, 300),
    fallback: 5,
  }),
  EARSHOT_ROLES: define<ProcessRole[]>({
    about: 'What this process does: answer requests, work through jobs, or both.',
    expects: '`http`, `worker` or `http,worker`',
    read: (text) => {
      const chosen = text.split(',').map((role) => role.trim())
      return new Set(chosen).size === chosen.length && chosen.every((role) => roles.some((known) => known === role))
        ? (chosen as ProcessRole[])
        : undefined
    },
    fallback: [...roles],
    fallbackText: '`http,worker`',
  }),
  EARSHOT_DRAIN_SECONDS: define({
    about:
      'How many seconds a process goes on answering requests after SIGTERM or SIGINT while `/readyz` says 503, so that a balancer ' +
      'turns away from it before it closes its port. More than the balancer needs to notice.',
    ...integer(0, 300),
    fallback: 0,
  }),
  EARSHOT_SERVICE_KEY: define<string | undefined>({
    about: 'The key that provisions organizations. More can be made with `bin/earshot keys service`.',
    ...visibleText(32, 200),
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_URL: define<string | undefined>({
    about: 'The service that commands such as `bin/earshot export` call.',
    ...url('http:', 'https:'),
    fallback: undefined,
    fallbackText: 'the one that these switches describe',
  }),
  EARSHOT_KEY: define<string | undefined>({
    about: 'The key of an organization with which such commands call it.',
    ...visibleText(1, 200),
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_SECRET_KEY: define<string | undefined>({
    about: 'Seals stored secrets and signs links. The same for all processes of one database.',
    ...visibleText(32, 200),
    fallback: undefined,
    fallbackText: 'made in the data directory, when the database is embedded',
    secret: true,
  }),
  EARSHOT_STORAGE: define<Storage>({
    about: 'Where files are kept. S3 takes the usual AWS variables for region and credentials.',
    expects: '`file:`, `file:/folder` or `s3://bucket/prefix`',
    read: readStorage,
    fallback: { kind: 'file', folder: undefined },
    fallbackText: '`file:`, the folder `blobs` of the data directory',
  }),
  EARSHOT_STORAGE_SHARED: define({
    about: 'Says that `file:` storage is one folder for all processes, which split roles need.',
    expects: '`true` or `false`',
    read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
    fallback: false,
  }),
  EARSHOT_S3_ENDPOINT: define<string | undefined>({
    about: 'Address of an S3-compatible store other than AWS.',
    ...url('http:', 'https:'),
    fallback: undefined,
  }),
  EARSHOT_JUDGE_PROVIDER: define<'openai-compatible' | 'anthropic'>({
    about: 'The kind of model endpoint that judges conversations.',
    expects: '`openai-compatible` or `anthropic`',
    read: (text) => (text === 'openai-compatible' || text === 'anthropic' ? text : undefined),
    fallback: 'openai-compatible',
  }),
  EARSHOT_JUDGE_BASE_URL: define<string | undefined>({
    about: 'Base address of the model endpoint, such as `https://api.openai.com/v1`. It may be a private one.',
    ...url('http:', 'https:'),
    fallback: undefined,
    fallbackText: 'unset; with `anthropic` it is `https://api.anthropic.com`',
  }),
  EARSHOT_JUDGE_API_KEY: define<string | undefined>({
    about: 'Key for the model endpoint.',
    ...visibleText(1, 500),
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_JUDGE_MODEL: define<string | undefined>({
    about: 'The model that judges when a monitor names none.',
    ...visibleText(1, 200),
    fallback: undefined,
  }),
  EARSHOT_JUDGE_LIMITS: define({
    about:
      'Overrides limits of judging. A transcript that does not fit into `contextTokens` is read in windows, at most ' +
      '`windows` of them. `monitorsPerRequest` above 1 lets monitors of one model share a request. `concurrency` is of ' +
      'one process. A request is sent at most `attempts` times, and given up after `timeoutMs`.',
    ...numbers(defaultJudgeLimits),
  }),
  EARSHOT_JUDGE_PRICES: define<Map<string, Price>>({
    about: 'Prices of models in US dollars for a million tokens of input and of output, from which costs are told.',
    expects: 'model=input/output, separated by commas, such as `gpt-5-mini=0.25/2,gpt-5=1.25/10`',
    read: readPrices,
    fallback: new Map(),
    fallbackText: 'none: costs are null',
  }),
  EARSHOT_SMTP_URL: define<Smtp | undefined>({
    about:
      'Mail server for invitations, links to a new password and notices, and the sender that they show (`earshot` at the ' +
      'host of EARSHOT_BASE_URL unless named by `from`). It may have a private address. `smtp:` asks for STARTTLS and ' +
      'sends nothing without it, except to a loopback host or with `tls=off`, where nothing is encrypted; certificates ' +
      'are checked (NODE_EXTRA_CA_CERTS names further authorities). Mails that the server does not take for the moment ' +
      'are tried again for a day. Without this switch notices are kept for 30 days in the table `mails` and are not sent ' +
      'when it is set later; links are handed over by whoever makes them.',
    expects: smtpUrlForm,
    read: readSmtpUrl,
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_OIDC_ISSUER: define<string | undefined>({
    about:
      'Issuer of OpenID Connect by which people may sign in beside their passwords, such as `https://login.example.com`. ' +
      'It may have a private address. The address to register with it is EARSHOT_BASE_URL followed by `/auth/oidc/callback`. ' +
      'Anyone whose address it has verified (`email_verified` is `true`) signs in as the member with that address. It ' +
      'creates no members. Needs the two switches that follow.',
    ...url('http:', 'https:'),
    fallback: undefined,
  }),
  EARSHOT_OIDC_CLIENT_ID: define<string | undefined>({
    about: 'What the issuer knows this service by.',
    ...visibleText(1, 500),
    fallback: undefined,
  }),
  EARSHOT_OIDC_CLIENT_SECRET: define<string | undefined>({
    about: 'What this service proves to the issuer that it is.',
    ...visibleText(1, 500),
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_OIDC_TRUST_EMAIL: define({
    about:
      'Trusts the e-mail addresses of an issuer that omits the claim `email_verified`, such as Entra ID. Only set it if ' +
      'all people of the issuer belong to you and cannot choose their own address: whoever has an address there signs in ' +
      'as the member with that address here. An address that the issuer says is not verified is refused in any case.',
    expects: '`true` or `false`',
    read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
    fallback: false,
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: define<string | undefined>({
    about:
      'Where this process sends its own traces and metrics by OTLP (HTTP, protobuf), such as `http://localhost:4318`. ' +
      'OTEL_EXPORTER_OTLP_HEADERS, _TIMEOUT, _COMPRESSION and _CERTIFICATE count too, and OTEL_RESOURCE_ATTRIBUTES.',
    ...url('http:', 'https:'),
    fallback: undefined,
  }),
  OTEL_SERVICE_NAME: define({
    about: 'What it calls itself there.',
    ...visibleText(1, 200),
    fallback: 'earshot',
  }),
  OTEL_TRACES_SAMPLER_ARG: define({
    about: 'Which share of requests and jobs is traced.',
    expects: 'a number from 0 to 1',
    read: (text) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(text) ? Number(text) : undefined),
    fallback: 1,
  }),
  OTEL_METRIC_EXPORT_INTERVAL: define({
    about: 'Milliseconds between two exports of metrics.',
    ...integer(1_000, 3_600_000),
    fallback: 60_000,
  }),
  EARSHOT_TRUST_PROXY: define({
    about: 'How many proxies in front to believe about the address of the caller.',
    ...integer(0, 10),
    fallback: 0,
  }),
  EARSHOT_METRICS_TOKEN: define<string | undefined>({
    about: 'Bearer token that opens `/metrics` to callers other than loopback.',
    ...visibleText(16, 200),
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: define<string[]>({
    about: 'Private networks that URLs given by tenants may reach.',
    expects: 'networks in CIDR form, separated by commas, such as `10.1.0.0/16,fd00::/8`',
    read: (text) => {
      const networks = text.split(',').map((network) => network.trim())
      return networks.every((network) => ipaddr.isValidCIDR(network)) ? networks : undefined
    },
    fallback: [],
    fallbackText: 'none',
  }),
  EARSHOT_LIMITS: define<Limits>({
    about: 'Overrides limits, such as `bodyBytes=2097152,ratePerSecond=100`.',
    ...numbers(defaultLimits),
  }),
}
