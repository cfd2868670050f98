import type { Called, RunCommand } from './call.ts'
import { colour } from './colour.ts'
import { columns, day, plain, print, printJson } from './columns.ts'
import { connect, findNamed } from './connect.ts'
import { tellExperiment } from './experiments/render.ts'

const list = async (called: Called): Promise<number> => {
  const experiments = await connect(called).earshot.experiments.list().all()
  if (called.flag('json')) return printJson(experiments)
  const rows = experiments.map(({ id, status, startedAt, name }) => [id, status, day(startedAt), plain(name)])
  return rows.length > 0 ? print(columns(rows)) : print('No experiments.\n')
}

const show = async (called: Called): Promise<number> => {
  const { earshot } = connect(called)
  // The command line requires the argument.
  const { id } = await findNamed(earshot.experiments.list(), called.args[0] as string, 'experiment')
  const experiment = await earshot.experiments.get(id)
  return called.flag('json') ? printJson(experiment) : print(tellExperiment(experiment, colour(process.stdout)))
}

export const run: RunCommand = (called) => (called.action === 'list' ? list(called) : show(called))
