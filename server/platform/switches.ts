import { isAbsolute, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { defaultLimits, type Limits } from './limits.ts'
import { readSmtpUrl, type Smtp, smtpUrlForm } from './mail/smtp-url.ts'

/** A variable with its parser, default, and documentation. */
export type Switch<T> = {
  about: string
  /** Completes "expected …" in errors and in the documentation. */
  expects: string
  /** Returns undefined for an invalid text. */
  read: (text: string) => T | undefined
  fallback: T
  /** The default in words, for cases where the value is unclear. */
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
  expects: `a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
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

/** Defines a variable with several numbers, each of which has its own default. */
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
    // The chosen values have the same names as the defaults.
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

/** The prices are in US dollars for a million tokens. */
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

/** All variables. They are read, validated, and documented with this list. */
export const switches = {
  PORT: define({
    about:
      'Port of the HTTP server. `0` uses a free port. A process with `EARSHOT_ROLES=worker` only serves ' +
      '`/healthz`, `/readyz`, and `/metrics`, and opens no port unless this is set.',
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
    about: 'Public URL of this service, used in links.',
    ...url('http:', 'https:'),
    fallback: undefined,
    fallbackText:
      '`http://HOST:PORT`, with `localhost` if HOST is all addresses, and port 4000 in a process with `EARSHOT_ROLES=worker`',
  }),
  EARSHOT_DATA_DIR: define({
    about: 'Folder for the embedded database, local files, and the generated secret key.',
    expects: 'a path',
    read: (text) => (text.includes('\0') ? undefined : isAbsolute(text) ? text : resolve(text)),
    fallback: resolve('.earshot'),
    fallbackText: '`./.earshot`',
  }),
  DATABASE_URL: define<string | undefined>({
    about: 'An external PostgreSQL database (16 or newer) instead of the embedded one. Requires EARSHOT_SECRET_KEY.',
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
      'Maximum age of analytics from the read replica: counts, trends, comparisons, agreement, and experiment ' +
      'results. If the replica is further behind, Earshot reads the primary. With `0`, only exports use the ' +
      'replica, and they always wait until it is up to date.',
    ...integer(0, 300),
    fallback: 5,
  }),
  EARSHOT_ROLES: define<ProcessRole[]>({
    about: 'Whether this process serves requests, runs jobs, or does both.',
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
      'How many seconds a process continues to serve requests after SIGTERM or SIGINT while `/readyz` returns 503, ' +
      'so that a load balancer stops using it before it closes its port. Set this to more than the balancer needs ' +
      'to notice the change.',
    ...integer(0, 300),
    fallback: 0,
  }),
  EARSHOT_SERVICE_KEY: define<string | undefined>({
    about: 'The key that provisions organizations. Create more with `bin/earshot keys service`.',
    ...visibleText(32, 200),
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_URL: define<string | undefined>({
    about: 'URL of the service that commands such as `bin/earshot export` call.',
    ...url('http:', 'https:'),
    fallback: undefined,
    fallbackText: 'the service that these variables configure',
  }),
  EARSHOT_KEY: define<string | undefined>({
    about: 'An organization’s API key for these commands.',
    ...visibleText(1, 200),
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_SECRET_KEY: define<string | undefined>({
    about: 'Seals stored secrets and signs links. Must be the same for all processes that share a database.',
    ...visibleText(32, 200),
    fallback: undefined,
    fallbackText: 'generated in the data directory if the database is embedded',
    secret: true,
  }),
  EARSHOT_STORAGE: define<Storage>({
    about: 'Where files are stored. S3 uses the standard AWS variables for region and credentials.',
    expects: '`file:`, `file:/folder` or `s3://bucket/prefix`',
    read: readStorage,
    fallback: { kind: 'file', folder: undefined },
    fallbackText: '`file:`, the folder `blobs` in the data directory',
  }),
  EARSHOT_STORAGE_SHARED: define({
    about:
      'Confirms that `file:` storage is one folder that all processes share. Required if processes have ' +
      'separate roles.',
    expects: '`true` or `false`',
    read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
    fallback: false,
  }),
  EARSHOT_S3_ENDPOINT: define<string | undefined>({
    about: 'URL of an S3-compatible store other than AWS.',
    ...url('http:', 'https:'),
    fallback: undefined,
  }),
  EARSHOT_JUDGE_PROVIDER: define<'openai-compatible' | 'anthropic'>({
    about: 'Type of the model endpoint that judges conversations.',
    expects: '`openai-compatible` or `anthropic`',
    read: (text) => (text === 'openai-compatible' || text === 'anthropic' ? text : undefined),
    fallback: 'openai-compatible',
  }),
  EARSHOT_JUDGE_BASE_URL: define<string | undefined>({
    about: 'Base URL of the model endpoint, such as `https://api.openai.com/v1`. It can be private.',
    ...url('http:', 'https:'),
    fallback: undefined,
    fallbackText: 'unset; `https://api.anthropic.com` with `anthropic`',
  }),
  EARSHOT_JUDGE_API_KEY: define<string | undefined>({
    about: 'API key for the model endpoint.',
    ...visibleText(1, 500),
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_JUDGE_MODEL: define<string | undefined>({
    about: "Model for judges that don't choose one.",
    ...visibleText(1, 200),
    fallback: undefined,
  }),
  EARSHOT_JUDGE_LIMITS: define({
    about:
      "Overrides judge limits. A transcript that doesn't fit into `contextTokens` is read in windows, at " +
      'most `windows` of them. With `monitorsPerRequest` above 1, monitors with the same model share a ' +
      'request. `concurrency` limits concurrent requests per process. A request is sent at most `attempts` ' +
      'times and times out after `timeoutMs`.',
    ...numbers(defaultJudgeLimits),
  }),
  EARSHOT_JUDGE_PRICES: define<Map<string, Price>>({
    about: 'Model prices in US dollars per million input and output tokens, used to calculate costs.',
    expects: 'model=input/output, separated by commas, such as `gpt-5-mini=0.25/2,gpt-5=1.25/10`',
    read: readPrices,
    fallback: new Map(),
    fallbackText: 'none; costs are null',
  }),
  EARSHOT_EMBEDDINGS: define({
    about:
      'Whether conversations are embedded, so that they can be found by meaning. With `off`, nothing is embedded, and ' +
      'searches by meaning return 503. Existing vectors are kept until their conversations change or are erased.',
    expects: '`on` or `off`',
    read: (text) => (text === 'on' ? true : text === 'off' ? false : undefined),
    fallback: true,
    fallbackText: '`on`',
  }),
  EARSHOT_SMTP_URL: define<Smtp | undefined>({
    about:
      'Mail server for invitations, password reset links, and notices. The sender is `from` or, without it, ' +
      '`earshot` at the host of EARSHOT_BASE_URL. The server can have a private address. `smtp:` requires STARTTLS ' +
      'and sends nothing without it, except to a loopback host or with `tls=off`, where nothing is encrypted. ' +
      'Certificates are checked (NODE_EXTRA_CA_CERTS adds authorities). If the server temporarily rejects an ' +
      'email, Earshot retries for a day. Without a mail server, notices are kept for 30 days in the table ' +
      "`mails` and aren't sent if you configure a server later. People who create links have to pass them on " +
      'themselves.',
    expects: smtpUrlForm,
    read: readSmtpUrl,
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_OIDC_ISSUER: define<string | undefined>({
    about:
      'OpenID Connect issuer for single sign-on, such as `https://login.example.com`. It can have a private ' +
      'address. Register EARSHOT_BASE_URL followed by `/auth/oidc/callback` as the redirect URL. People with ' +
      'an address that the issuer has verified (`email_verified` is `true`) sign in as the member with that address. ' +
      "Single sign-on doesn't create members. Requires the client ID and client secret.",
    ...url('http:', 'https:'),
    fallback: undefined,
  }),
  EARSHOT_OIDC_CLIENT_ID: define<string | undefined>({
    about: 'Client ID that the issuer assigned to this service.',
    ...visibleText(1, 500),
    fallback: undefined,
  }),
  EARSHOT_OIDC_CLIENT_SECRET: define<string | undefined>({
    about: 'Client secret that the issuer assigned to this service.',
    ...visibleText(1, 500),
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_OIDC_TRUST_EMAIL: define({
    about:
      'Trusts the email addresses of an issuer that omits the claim `email_verified`, such as Entra ID. Only ' +
      "set it if everyone at the issuer belongs to your organization and can't choose their own address: anyone " +
      'with an address there signs in as the member with that address here. An address that the issuer marks as ' +
      'not verified is always rejected.',
    expects: '`true` or `false`',
    read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
    fallback: false,
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: define<string | undefined>({
    about:
      "OTLP endpoint (HTTP, protobuf) for this process's own traces and metrics, such as " +
      '`http://localhost:4318`. OTEL_EXPORTER_OTLP_HEADERS, _TIMEOUT, _COMPRESSION, and _CERTIFICATE also ' +
      'apply, and so does OTEL_RESOURCE_ATTRIBUTES.',
    ...url('http:', 'https:'),
    fallback: undefined,
  }),
  OTEL_SERVICE_NAME: define({
    about: 'Service name in traces and metrics.',
    ...visibleText(1, 200),
    fallback: 'earshot',
  }),
  OTEL_TRACES_SAMPLER_ARG: define({
    about: 'Share of requests and jobs to trace.',
    expects: 'a number from 0 to 1',
    read: (text) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(text) ? Number(text) : undefined),
    fallback: 1,
  }),
  OTEL_METRIC_EXPORT_INTERVAL: define({
    about: 'Milliseconds between metric exports.',
    ...integer(1_000, 3_600_000),
    fallback: 60_000,
  }),
  EARSHOT_TRUST_PROXY: define({
    about: "Number of proxies in front of the service that are trusted to report the caller's address.",
    ...integer(0, 10),
    fallback: 0,
  }),
  EARSHOT_METRICS_TOKEN: define<string | undefined>({
    about: 'Bearer token that allows callers other than loopback to read `/metrics`.',
    ...visibleText(16, 200),
    fallback: undefined,
    secret: true,
  }),
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: define<string[]>({
    about: 'Private networks that URLs set by organizations may point to.',
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
