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
  const ending = formatNames.find((format) => output?.toLowerCase().endsWith(`.${format}`))
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
      format: text('format') ?? ending ?? 'csv',
      match: text('match') ?? 'all',
      versionScope: text('versions') ?? 'historical',
      reasoning: flag('reasoning'),
      metadata: list('metadata').map(readCondition),
    },
  }
}
