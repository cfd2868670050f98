import Type, { type Static } from 'typebox'
import { keyPattern } from '../filters/category.ts'
import { faultOfMeasure } from '../filters/sort.ts'
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
  'tags',
  'topic',
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
        '`signal:<name>`, `sound:<name>`, `result:<monitorId>`, `score:<monitorId>`, `categories:<monitorId>`, or',
        '`field:<monitorId>:<field>`. `affected` shows the monitors with an affected result.',
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
    case 'sound':
      return faultOfMeasure(kind, name)
    case 'result':
    case 'score':
    case 'categories':
      return uuid.test(name) ? undefined : `needs a monitor’s ID after ${kind}:`
    case 'field': {
      const [id = '', field = '', ...more] = rest
      const isField = more.length === 0 && new RegExp(keyPattern).test(field)
      return uuid.test(id) && isField ? undefined : 'needs a monitor’s ID and a field key after field:'
    }
    default:
      return 'is not a known column'
  }
}

/** Keys of fields keep their case, unlike IDs. */
const canonicalKey = (key: string): string =>
  key.replace(/^(result|score|categories|field):([^:]*)/, (_, kind, id) => `${kind}:${id.toLowerCase()}`)

const canonical = ({ key, width }: Column): Column => ({
  key: canonicalKey(key),
  ...(width !== undefined && { width }),
})

/** Returns the columns in canonical form. */
export const canonicalColumns = (columns: Column[]): Column[] => columns.map(canonical)

/** Validates rules that a schema cannot express. `path` is the path of the columns in the request. */
export const faultsOfColumns = (columns: Column[], path: string): Issue[] => {
  const keys = canonicalColumns(columns).map(({ key }) => key)
  return keys.flatMap((key, index): Issue[] => {
    const message = keys.indexOf(key) < index ? 'is listed twice' : faultOf(key)
    return message === undefined ? [] : [{ path: `${path}[${index}].key`, message }]
  })
}

/** Returns the columns in canonical form. Throws all errors at once. */
export const parseColumns = (columns: Column[], path: string): Column[] => {
  const issues = faultsOfColumns(columns, path)
  if (issues.length > 0) throw invalidAll(issues)
  return canonicalColumns(columns)
}
