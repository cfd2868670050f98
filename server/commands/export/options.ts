import { extname } from 'node:path'
import { formatNames, tableFormats } from '../../exports/formats/formats.ts'
import { type Called, WronglyCalled } from '../call.ts'
import { serviceOf } from '../connect.ts'
import { periodOf } from '../when.ts'

type Formats = readonly (typeof formatNames)[number][]

const metadataForm =
  /^(.+?) (?:(is_set|is_not_set|is_true|is_false)|(eq|neq|contains|not_contains|gt|gte|lt|lte) (.*))$/s

const readCondition = (given: string) => {
  const [, key, asking, op = asking, value] = metadataForm.exec(given) ?? []
  if (!key)
    throw new WronglyCalled(`--metadata must be KEY OP VALUE, such as 'plan eq gold', not ${JSON.stringify(given)}.`)
  return { key, op, ...(value !== undefined && { value }) }
}

/** Returns the format, which can also be derived from the file name. Throws if the two contradict each other. */
const readFormat = (format: string | undefined, output: string | undefined, formats: Formats) => {
  const ending = extname(output ?? '')
    .slice(1)
    .toLowerCase()
  const known = formats.find((name) => name === ending)
  if (format !== undefined && known !== undefined && format !== known)
    throw new WronglyCalled(`--output ends in .${ending}, but --format is ${format}.`)
  if (format === undefined && ending !== '' && known === undefined) {
    const endings = formats.map((name) => `.${name}`).join(', ')
    throw new WronglyCalled(`--output ends in .${ending}, which is not a format. Use ${endings}, or add --format.`)
  }
  const chosen = format ?? known ?? 'csv'
  const found = formats.find((name) => name === chosen)
  if (found === undefined) throw new WronglyCalled(`Only the export of a --view can be ${chosen}.`)
  return found
}

/** The options that select monitor results. They can't be used with a saved view, which has its own filter. */
const ofMonitors = ['match', 'versions', 'company', 'agent', 'group']
const listsOfMonitors = ['monitor', 'affected', 'not-affected', 'metadata']

const requireViewAlone = ({ text, flag, list }: Called): void => {
  const given = [
    ...ofMonitors.filter((name) => text(name) !== undefined),
    ...listsOfMonitors.filter((name) => list(name).length > 0),
    ...(flag('reasoning') ? ['reasoning'] : []),
  ]
  if (given.length > 0) throw new WronglyCalled(`--view cannot be combined with --${given.join(', --')}.`)
}

/** Returns the saved view, and the times that override its own. */
const readView = (called: Called, { since, until }: { since: string; until: string }) => {
  const name = called.text('view')
  if (name === undefined) return undefined
  requireViewAlone(called)
  const isGiven = called.text('since') !== undefined || called.text('until') !== undefined
  return { name, ...(isGiven && { period: { ...(called.text('since') && { since }), until } }) }
}

export type Options = ReturnType<typeof readOptions>

export const readOptions = (called: Called, now: Date) => {
  const { text, flag, list } = called
  const [id, output, json] = [text('id'), text('output'), flag('json')]
  if (json && output === '-')
    throw new WronglyCalled('--json and --output - cannot be combined: both write to standard output.')
  const { url, key } = serviceOf(called)
  const period = periodOf(called, now)
  if (id !== undefined && !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)) {
    throw new WronglyCalled(`--id must be the ID of an export, not ${JSON.stringify(id)}.`)
  }
  const view = readView(called, period)
  const isAnyFormat = view !== undefined || id !== undefined
  const format = readFormat(text('format'), output, isAnyFormat ? formatNames : tableFormats)
  return {
    url,
    isUrlGiven: text('url') !== undefined,
    key,
    id,
    output,
    json,
    quiet: flag('quiet'),
    view,
    format,
    named: { monitors: list('monitor'), affected: list('affected'), notAffected: list('not-affected') },
    places: { company: text('company'), agent: text('agent'), group: text('group') },
    asked: {
      ...period,
      match: text('match') ?? 'all',
      versionScope: text('versions') ?? 'historical',
      reasoning: flag('reasoning'),
      metadata: list('metadata').map(readCondition),
    },
  }
}
