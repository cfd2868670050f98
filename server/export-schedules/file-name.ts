// Fills in the schedule's file name template with the values of a run.
import { openZone } from '../platform/time-zone.ts'

export const defaultFileName = '{schedule}-{since}-{until}.{format}'

type Named = {
  schedule: { id: string; name: string }
  /** The export's configuration, which is the schedule's configuration at the time of the run. */
  config: { timezone: string; format: string }
  run: { id: string; since: Date; until: Date; plannedFor: Date }
}

/** Formats a time as in 20261101T010000Z. */
const compact = (instant: Date) => `${instant.toISOString().replace(/[-:]/g, '').slice(0, 15)}Z`

/** Reduces a name to letters, digits, and hyphens. Returns the ID if nothing is left. */
const slugOf = ({ name, id }: { name: string; id: string }) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60) || id

const values: Record<string, (named: Named) => string> = {
  schedule: ({ schedule }) => slugOf(schedule),
  since: ({ run }) => compact(run.since),
  until: ({ run }) => compact(run.until),
  date: ({ config, run }) => openZone(config.timezone).wallTime(run.plannedFor).toISOString().slice(0, 10),
  run: ({ run }) => run.id,
  format: ({ config }) => config.format,
}

/** Returns an error if a segment is empty or consists of dots, which would change the path. */
export const faultOfSegments = (path: string): string | undefined =>
  path.split('/').some((each) => each === '' || each === '.' || each === '..')
    ? 'must not contain empty path segments'
    : undefined

/** Returns the error in a template, or undefined if it is valid. The schema has already checked the characters. */
export const faultOfTemplate = (template: string): string | undefined => {
  const named = [...template.matchAll(/\{(.*?)\}/g)].map(([, name = '']) => name)
  const unknown = named.find((name) => !Object.hasOwn(values, name))
  if (unknown !== undefined) {
    return `only supports ${Object.keys(values)
      .map((name) => `{${name}}`)
      .join(', ')}, not {${unknown}}`
  }
  if (/[{}]/.test(template.replaceAll(/\{.*?\}/g, ''))) return 'has an unmatched brace'
  return faultOfSegments(template)
}

export const objectKeyOf = (
  { prefix, fileName }: { prefix: string | null; fileName: string },
  named: Named,
): string => {
  const filled = fileName.replaceAll(/\{(.*?)\}/g, (_all, name: string) => values[name]?.(named) ?? '')
  return prefix === null ? filled : `${prefix}/${filled}`
}
