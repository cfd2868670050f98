import { extname } from 'node:path'
import { formatNames } from '../../exports/formats/formats.ts'
import { type Called, WronglyCalled } from '../call.ts'
import { serviceOf } from '../connect.ts'
import { periodOf } from '../when.ts'

const metadataForm =
  /^(.+?) (?:(is_set|is_not_set|is_true|is_false)|(eq|neq|contains|not_contains|gt|gte|lt|lte) (.*))$/s

const readCondition = (given: string) => {
  const [, key, asking, op = asking, value] = metadataForm.exec(given) ?? []
  if (!key)
    throw new WronglyCalled(`--metadata must be KEY OP VALUE, such as 'plan eq gold', not ${JSON.stringify(given)}.`)
  return { key, op, ...(value !== undefined && { value }) }
}

/** The format, which the name of the file can also say. A name that promises another one is an error. */
const readFormat = (format: string | undefined, output: string | undefined): string => {
  const ending = extname(output ?? '')
    .slice(1)
    .toLowerCase()
  const known = formatNames.find((name) => name === ending)
  if (format !== undefined && known !== undefined && format !== known)
    throw new WronglyCalled(`--output ends in .${ending}, but --format is ${format}.`)
  if (format === undefined && ending !== '' && known === undefined) {
    const endings = formatNames.map((name) => `.${name}`).join(', ')
    throw new WronglyCalled(`--output ends in .${ending}, which is not a format. Use ${endings}, or add --format.`)
  }
  return format ?? known ?? 'csv'
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
  const format = readFormat(text('format'), output)
  return {
    url,
    isUrlGiven: text('url') !== undefined,
    key,
    id,
    output,
    json,
    quiet: flag('quiet'),
    named: { monitors: list('monitor'), affected: list('affected'), notAffected: list('not-affected') },
    places: { company: text('company'), agent: text('agent'), group: text('group') },
    asked: {
      ...period,
      format,
      match: text('match') ?? 'all',
      versionScope: text('versions') ?? 'historical',
      reasoning: flag('reasoning'),
      metadata: list('metadata').map(readCondition),
    },
  }
}
