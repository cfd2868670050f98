import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { loadConfig } from '../platform/config.ts'
import { type Called, type RunCommand, WronglyCalled } from './call.ts'
import { print } from './columns.ts'
import { connect } from './connect.ts'
import type { CallSource } from './import/bodies.ts'
import { openRejects, type Reject } from './import/rejects.ts'
import { runImport } from './import/run.ts'
import { type ImportSource, openSources } from './import/sources.ts'
import { type ImportCounts, openState } from './import/state.ts'
import { openProgress } from './progress.ts'

/**
 * Returns the path where the import saves its progress: by default, next to the first file. Standard input has no
 * progress file, because it cannot be read again.
 */
const statePathOf = ({ args, text }: Called): string | undefined => {
  const given = text('resume')
  if (given !== undefined) return resolve(given)
  const [first = '-'] = args
  return first === '-' ? undefined : `${resolve(first)}.import-state`
}

/** Resolves links, because two paths can lead to the same file. */
const realPathOf = async (path: string): Promise<string> =>
  realpath(path).catch(async () => join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path)))

/** Throws if an output file is also an input file or another output file. */
const requireApart = async (sources: ImportSource[], written: Record<string, string | undefined>): Promise<void> => {
  const taken = new Set(await Promise.all(sources.map(({ name }) => realPathOf(name))))
  for (const [option, path] of Object.entries(written)) {
    const real = path === undefined ? undefined : await realPathOf(path)
    if (real !== undefined && taken.has(real))
      throw new WronglyCalled(
        `${JSON.stringify(path)} is already part of this import. Choose another file for --${option}.`,
      )
    if (real !== undefined) taken.add(real)
  }
}

/**
 * Handles Ctrl-C: the first one stops reading and waits for pending requests, and the second one cancels those, too.
 */
const watchInterrupts = (waitsForInput: boolean) => {
  const ending = new AbortController()
  let isInterrupted = false
  const onSignal = () => {
    if (isInterrupted) ending.abort(new Error('Interrupted.'))
    isInterrupted = true
    if (waitsForInput) process.stdin.destroy()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  return {
    isInterrupted: () => isInterrupted,
    signal: ending.signal,
    close: () => void process.removeListener('SIGINT', onSignal).removeListener('SIGTERM', onSignal),
  }
}

/** Opens the input files and the output files next to them. */
const openFiles = async (called: Called) => {
  const { args, text } = called
  const sources = await openSources(args)
  if (sources.length > 1 && sources.some(({ name }) => name === '-'))
    throw new WronglyCalled('- cannot be combined with files.')
  const statePath = statePathOf(called)
  const rejectsPath = text('rejects') === undefined ? undefined : resolve(text('rejects') ?? '')
  await requireApart(sources, { resume: statePath, rejects: rejectsPath })
  return { sources, statePath, rejectsPath }
}

const importAll = async (called: Called): Promise<number> => {
  const { text, flag } = called
  const { earshot } = connect(called)
  const { sources, statePath, rejectsPath } = await openFiles(called)
  const { organization, entitlements } = await earshot.me.get()
  // The option only accepts these choices.
  const from = text('from') as CallSource | undefined
  const agent = text('agent')
  const of = [organization.id, from ?? '', agent ?? ''].join(' ')
  const state = await openState({ path: statePath, of, sources, rejects: rejectsPath })
  await state.save().catch((error: Error) => {
    throw new WronglyCalled(`${error.message}. Use --resume to choose where the import saves its progress.`)
  })
  const rejects = await openRejects(rejectsPath, state.state.rejectsBytes)
  const interrupts = watchInterrupts(sources.some(({ name }) => name === '-'))
  const progress = openProgress(flag('quiet'), { lines: true })
  if (!flag('quiet')) sayWhereItStarts(state)
  const { metadataBytes } = loadConfig().limits
  const options = { from, agent, metadataBytes, takesMetrics: entitlements.metrics }
  const { isInterrupted, signal } = interrupts
  try {
    await runImport({ earshot, sources, options, state, rejects, progress, isInterrupted, signal })
  } catch (error) {
    if (!signal.aborted) throw noteFailure(error, statePath)
  } finally {
    progress.end()
    interrupts.close()
  }
  const { counts } = state.state
  const exitCode = counts.rejected > 0 ? 3 : 0
  if (isInterrupted()) sayHowToGoOn(statePath)
  else await state.remove()
  printCounts(counts, flag('json'))
  if (counts.rejected > 0 && rejectsPath === undefined) explainRejects(rejects.first(), counts.rejected)
  return isInterrupted() ? 130 : exitCode
}

const explainRejects = (first: Reject[], count: number): void => {
  for (const { file, number, externalId, message } of first) {
    const name = externalId === null ? '' : ` (${externalId})`
    process.stderr.write(`earshot: ${file}, value ${number}${name}: ${message}\n`)
  }
  const others = count - first.length
  const more = others > 0 ? `${others.toLocaleString('en')} more ${others === 1 ? 'was' : 'were'} rejected. ` : ''
  process.stderr.write(`earshot: ${more}Use --rejects FILE to save what was rejected, with the reasons.\n`)
}

const noteFailure = (error: unknown, statePath: string | undefined): unknown => {
  if (statePath !== undefined) process.stderr.write('earshot: run the same command again to resume.\n')
  return error
}

const sayWhereItStarts = ({ resumes, isAnother }: Awaited<ReturnType<typeof openState>>): void => {
  if (resumes) process.stderr.write('Resuming the last import.\n')
  if (isAnother) process.stderr.write('The files have changed since the last import. Starting over.\n')
}

const sayHowToGoOn = (statePath: string | undefined): void => {
  const how =
    statePath === undefined ? 'Send the input again: nothing is stored twice.' : 'Run the same command again to resume.'
  process.stderr.write(`earshot: interrupted. ${how}\n`)
}

const printCounts = (counts: ImportCounts, asJson: boolean): void => {
  if (asJson) {
    print(`${JSON.stringify(counts)}\n`)
    return
  }
  const { created, updated, unchanged, ignored, rejected } = counts
  const parts = Object.entries({ created, updated, unchanged, ignored, rejected }).map(
    ([name, count]) => `${count.toLocaleString('en')} ${name}`,
  )
  print(`${parts.join(', ')}\n`)
}

export const run: RunCommand = importAll
