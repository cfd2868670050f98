import Type, { type Static } from 'typebox'
import { signalNames } from '../filters/sort.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import { Closed } from '../platform/http/schemas.ts'

/** The columns of a list of conversations. */

const properties = [
  'channel',
  'direction',
  'status',
  'startedAt',
  'endedAt',
  'durationSeconds',
  'agentId',
  'agentVersionId',
  'companyId',
  'customerId',
  'externalId',
  'endReason',
  'reviewStatus',
  'affected',
  'findings',
  'excerpt',
  'cost',
]

export const Column = Closed(
  {
    key: Type.String({
      minLength: 1,
      maxLength: 160,
      description: [
        `One of ${properties.map((name) => `\`${name}\``).join(', ')}, or \`metadata:<key>\`, \`metric:<key>\`,`,
        '`signal:<name>`, `result:<monitorId>`, or `score:<monitorId>`. `affected` shows the monitors that affect it.',
      ].join(' '),
      examples: ['metadata:plan'],
    }),
    width: Type.Optional(
      Type.Integer({ minimum: 40, maximum: 1_000, description: 'In pixels. Default: as wide as fits.' }),
    ),
  },
  { title: 'ViewColumn' },
)
export type Column = Static<typeof Column>

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const faultOf = (key: string): string | undefined => {
  if (properties.includes(key)) return undefined
  const [kind, ...rest] = key.split(':')
  const name = rest.join(':')
  switch (kind) {
    case 'metadata':
    case 'metric':
      return name === '' || name.length > 120 ? `needs a key of up to 120 characters after ${kind}:` : undefined
    case 'signal':
      return signalNames.includes(name) ? undefined : `names no signal. Choose one of ${signalNames.join(', ')}`
    case 'result':
    case 'score':
      return uuid.test(name) ? undefined : `needs a monitor’s ID after ${kind}:`
    default:
      return 'names no column'
  }
}

const canonical = ({ key, width }: Column): Column => {
  const isOfMonitor = key.startsWith('result:') || key.startsWith('score:')
  return { key: isOfMonitor ? key.toLowerCase() : key, ...(width !== undefined && { width }) }
}

/** Reports all faults at once. `path` is the path of the columns in the request. */
export const parseColumns = (columns: Column[], path: string): Column[] => {
  const parsed = columns.map(canonical)
  const keys = parsed.map(({ key }) => key)
  const issues = parsed.flatMap(({ key }, index): Issue[] => {
    const message = keys.indexOf(key) < index ? 'is listed twice' : faultOf(key)
    return message === undefined ? [] : [{ path: `${path}[${index}].key`, message }]
  })
  if (issues.length > 0) throw invalidAll(issues)
  return parsed
}
