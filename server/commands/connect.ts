import { Earshot, type Paged } from '../../client/src/earshot.ts'
import { baseUrlOf, loadConfig, requestPortOf } from '../platform/config.ts'
import { type Called, WronglyCalled } from './call.ts'
import { plain } from './columns.ts'

/** Finds the service that a command calls: from its options, the environment, or this machine's configuration. */
export const serviceOf = ({ text }: Called): { url: string; key: string } => {
  const config = loadConfig()
  const key = text('key') ?? config.client.key
  if (!key) throw new WronglyCalled('Set EARSHOT_KEY to an API key, or pass --key.')
  const url = (text('url') ?? config.client.url ?? baseUrlOf(config, requestPortOf(config))).replace(/\/+$/, '')
  try {
    new Earshot({ url, key })
  } catch (error) {
    throw new WronglyCalled(`EARSHOT_URL (or --url) or EARSHOT_KEY (or --key) is invalid: ${(error as Error).message}.`)
  }
  return { url, key }
}

export const connect = (called: Called) => {
  const { url, key } = serviceOf(called)
  return { url, earshot: new Earshot({ url, key }) }
}

type Named = { id: string; name: string }

/** Returns the item with this name or ID. */
export const findAmong = <T extends Named>(known: T[], given: string, kind: string): T => {
  const wanted = given.toLowerCase()
  const found = known.filter(({ id, name }) => id === wanted || name.toLowerCase() === wanted)
  if (found[0] && found.length === 1) return found[0]
  if (found.length > 1)
    throw new WronglyCalled(`The name ${JSON.stringify(given)} is used ${found.length} times. Use the ID instead.`)
  const names = known.slice(0, 20).map(({ name }) => `  ${plain(name)}`)
  const listed = names.length > 0 ? ` Available:\n${names.join('\n')}` : ''
  throw new WronglyCalled(`No ${kind} is named ${JSON.stringify(given)}.${listed}`)
}

export const findNamed = async <T extends Named>(list: Paged<T>, given: string, kind: string): Promise<T> =>
  findAmong(await list.all(), given, kind)
