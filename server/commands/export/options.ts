import { parseArgs } from 'node:util'
import { baseUrlOf, type Config } from '../../config.ts'
import { formatNames } from '../../exports/formats/formats.ts'
import { isTimeZone } from '../../platform/time-zone.ts'

export const usage = `Usage:
  earshot export [options]

Asks a service for the results of monitors, waits for the file, and downloads it.

  --url URL              the service; EARSHOT_URL, or the one that this machine's switches describe
  --key KEY              better in EARSHOT_KEY, which no list of processes shows
  --monitor NAME         name or id, up to 20 times; all enabled ones unless said
  --affected NAME        only calls that this monitor found affected; may be repeated
  --not-affected NAME    only calls that it found not affected; may be repeated
  --match all|any        how these conditions are joined: all
  --since WHEN           first instant: 2026-11-01, 2026-11-01T08:00:00Z, or 30d or 12h ago; 30d unless said
  --until WHEN           the instant before which calls began; now unless said
  --timezone ZONE        of dates and of the file's About sheet; this machine's
  --versions historical|current   results of which versions of monitors count
  --company NAME  --agent NAME  --group NAME   calls of these alone; name or id
  --metadata 'KEY OP VALUE'       such as 'plan eq gold' or 'vip is_true'; up to 8 times
  --reasoning            adds the reasons of each result
  --format csv|xlsx|parquet       from the ending of --output, or csv
  --output FILE          where the file goes, - for standard output; the name that the service gives it
  --id EXPORT-ID         download an export that was asked for before, or go on with a broken download
  --json                 print the export as JSON in place of the file's name
  --quiet                no progress

Exit codes: 0 done, 1 no answer or not allowed, 2 called wrongly, 3 the export failed, 4 the file arrived damaged,
130 interrupted.
`

/** A fault in how the command was called. */
export class WronglyCalled extends Error {
  readonly code = 'ERR_PARSE_ARGS_EXPORT'
}

const many = { type: 'string', multiple: true, default: [] as string[] } as const
const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const

const choice = <T extends string>(name: string, given: string | undefined, known: readonly T[]): T | undefined => {
  if (given === undefined) return undefined
  const chosen = known.find((value) => value === given)
  if (chosen === undefined) throw new WronglyCalled(`--${name} is ${known.join(' or ')}, not ${JSON.stringify(given)}.`)
  return chosen
}

/** Milliseconds that the zone is ahead of UTC at an instant. */
const offsetAt = (instant: number, timeZone: string): number => {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  }).formatToParts(instant)
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value)
  return (
    Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) -
    Math.floor(instant / 1_000) * 1_000
  )
}

const unitMs = { h: 3_600_000, d: 86_400_000 }

/** An instant, a date (its first moment in the zone), or a span of time before now. */
export const readWhen = (name: string, given: string, timeZone: string, now: Date): string => {
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(given) ?? []
  if (count) return new Date(now.getTime() - Number(count) * unitMs[unit as 'h' | 'd']).toISOString()
  const utc = Date.parse(given)
  if (/^\d{4}-\d\d-\d\d$/.test(given) && new Date(utc).toJSON()?.startsWith(given)) {
    const nearly = utc - offsetAt(utc, timeZone)
    return new Date(utc - offsetAt(nearly, timeZone)).toISOString()
  }
  if (/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/i.test(given) && !Number.isNaN(utc)) return new Date(utc).toISOString()
  throw new WronglyCalled(
    `--${name} is a date, an instant with an offset or Z, or a span such as 30d; not ${JSON.stringify(given)}.`,
  )
}

const metadataForm =
  /^(.+?) (?:(is_set|is_not_set|is_true|is_false)|(eq|neq|contains|not_contains|gt|gte|lt|lte) (.*))$/s

const readCondition = (given: string) => {
  const [, key, asking, op = asking, value] = metadataForm.exec(given) ?? []
  if (!key) throw new WronglyCalled(`--metadata is KEY OP VALUE, such as 'plan eq gold'; not ${JSON.stringify(given)}.`)
  return { key, op, ...(value !== undefined && { value }) }
}

export type Options = NonNullable<ReturnType<typeof readOptions>>

/** Undefined when only help was asked for. */
export const readOptions = (args: string[], config: Config, now: Date) => {
  const { values } = parseArgs({
    args,
    options: {
      ...{ url: text, key: text, since: text, until: text, timezone: text, versions: text, match: text, id: text },
      ...{ company: text, agent: text, group: text, format: text, output: text },
      ...{ monitor: many, affected: many, 'not-affected': many, metadata: many },
      ...{ reasoning: flag, json: flag, quiet: flag, help: flag },
    },
  })
  if (values.help) return undefined
  if (values.json && values.output === '-')
    throw new WronglyCalled('Standard output takes the file or --json, not both.')
  const key = values.key ?? config.client.key
  if (!key) throw new WronglyCalled('Give the key of an organization as EARSHOT_KEY or --key.')
  const url = (values.url ?? config.client.url ?? baseUrlOf(config, config.port)).replace(/\/+$/, '')
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new WronglyCalled(`--url ${JSON.stringify(url)} is no address.`)
  const timezone = values.timezone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone
  if (!isTimeZone(timezone)) throw new WronglyCalled(`--timezone is an IANA name such as Europe/Berlin.`)
  if (values.id !== undefined && !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(values.id))
    throw new WronglyCalled(`--id is the id of an export, not ${JSON.stringify(values.id)}.`)
  const ending = formatNames.find((format) => values.output?.toLowerCase().endsWith(`.${format}`))
  return {
    ...{
      url,
      isUrlGiven: values.url !== undefined,
      key,
      timezone,
      id: values.id,
      output: values.output,
      json: values.json,
      quiet: values.quiet,
    },
    named: { monitors: values.monitor, affected: values.affected, notAffected: values['not-affected'] },
    places: { companyId: values.company, agentId: values.agent, groupId: values.group },
    asked: {
      since: readWhen('since', values.since ?? '30d', timezone, now),
      until: values.until === undefined ? now.toISOString() : readWhen('until', values.until, timezone, now),
      timezone,
      format: choice('format', values.format, formatNames) ?? ending ?? 'csv',
      match: choice('match', values.match, ['all', 'any']) ?? 'all',
      versionScope: choice('versions', values.versions, ['historical', 'current']) ?? 'historical',
      reasoning: values.reasoning,
      metadata: values.metadata.map(readCondition),
    },
  }
}
