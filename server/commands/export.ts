import { createReadStream } from 'node:fs'
import { access, constants, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileNameOf } from '../exports/file-name.ts'
import { type RunCommand, WronglyCalled } from './call.ts'
import { plainLines } from './columns.ts'
import { Damaged, downloadFile } from './export/download.ts'
import { type Options, readOptions } from './export/options.ts'
import { openRemote, type Remote, strangeAnswer } from './export/remote.ts'
import { chooseSource, type Manifest, type Source } from './export/sources.ts'
import { openProgress, type ProgressLine } from './progress.ts'

const pollMs = 1_000
/** The maximum delay between two polls, as recommended by the API. */
const slowPollMs = 5_000
const quickPolls = 20

class ExportFailed extends Error {}

const reasons: Record<string, string> = {
  too_many_calls: 'an export can have at most 100,000; choose a shorter period or add a filter',
  timed_out: 'it timed out',
  cancelled: 'it was cancelled',
  storage_unavailable: 'the file storage of the service was unavailable',
}

/** Throws before the export starts if the file can't be written. */
const requirePlace = async (output: string | undefined): Promise<void> => {
  const folder = output === undefined ? '.' : dirname(output)
  const isThere = await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!isThere) throw new WronglyCalled(`Cannot write to the folder ${JSON.stringify(folder)}.`)
  const present = output === undefined ? undefined : await stat(output).catch(() => undefined)
  if (present && !present.isFile()) throw new WronglyCalled(`--output ${JSON.stringify(output)} is not a file.`)
}

const readManifest = (remote: Remote, manifest: Manifest): Manifest => {
  // The response may come from something other than Earshot.
  const { status, config, createdAt } = manifest ?? {}
  const start = config && ('since' in config ? config.since : createdAt)
  if (typeof status !== 'string' || typeof start !== 'string') throw strangeAnswer(remote.url)
  return manifest
}

const begin = async (
  remote: Remote,
  source: Source,
  { id, view }: Options,
): Promise<{ manifest: Manifest; rows: number | undefined }> => {
  if (id !== undefined) return { manifest: readManifest(remote, await source.read(id)), rows: undefined }
  const { count, manifest } = await source.create()
  if (manifest) return { manifest: readManifest(remote, manifest), rows: count }
  const what = view === undefined ? 'calls' : 'conversations'
  throw new ExportFailed(`${count.toLocaleString('en')} ${what} match: ${reasons.too_many_calls}.`)
}

const waitFor = async (
  remote: Remote,
  source: Source,
  first: Manifest,
  rows: number | undefined,
  progress: ProgressLine,
  signal: AbortSignal,
) => {
  let manifest = first
  for (let polls = 0; manifest.status === 'pending' || manifest.status === 'processing'; polls++) {
    progress.show(manifest.status === 'pending' ? 'Queued' : 'Generating', manifest.rowCount ?? 0, rows)
    await sleep(polls < quickPolls ? pollMs : slowPollMs, undefined, { signal })
    manifest = readManifest(remote, await source.read(first.id))
  }
  if (manifest.status === 'failed') {
    const code = manifest.errorCode ?? ''
    throw new ExportFailed(`The export failed (${code}): ${reasons[code] ?? 'see the log of the service'}.`)
  }
  if (manifest.status === 'expired') throw new ExportFailed('The file of this export has expired. Create a new export.')
  return manifest
}

const fetchTo = async (
  remote: Remote,
  manifest: Manifest,
  output: string,
  progress: ProgressLine,
  signal: AbortSignal,
) => {
  const { downloadPath, bytes } = manifest
  if (downloadPath === null || bytes === null) throw new ExportFailed('This export has no file.')
  const onProgress = (done: number) => progress.show('Downloading', done, bytes)
  const wanted = { path: downloadPath, bytes, signal, onProgress }
  if (output !== '-') return downloadFile(remote, `${output}.${manifest.id}.part`, { ...wanted, file: output })
  const folder = await mkdtemp(join(tmpdir(), 'earshot-export-'))
  try {
    const file = join(folder, 'file')
    await downloadFile(remote, join(folder, 'part'), { ...wanted, file })
    await pipeline(createReadStream(file), process.stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
      // The program that reads the output can stop early, as `head` does.
      if (error.code !== 'EPIPE') throw error
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const toGoOn = ({ id }: Manifest, { url, isUrlGiven, output }: Options): string =>
  [
    'earshot export --id',
    id,
    ...(isUrlGiven ? ['--url', quote(url)] : []),
    ...(output ? ['--output', quote(output)] : []),
  ].join(' ')

/** Returns a file name in the current folder, because a malicious service must not choose a different path. */
const nameOf = ({ url }: Remote, { id, config, createdAt }: Manifest): string => {
  const [kind, from] = 'since' in config ? (['monitor', config.since] as const) : (['conversation', createdAt] as const)
  const name = fileNameOf({ id, kind, format: config.format ?? 'csv', from })
  if (!/^[\w-]+\.\w+$/.test(name)) throw strangeAnswer(url)
  return name
}

const exportAll = async (options: Options, signal: AbortSignal): Promise<void> => {
  if (options.output !== '-') await requirePlace(options.output)
  const remote = openRemote({ ...options, signal })
  const progress = openProgress(options.quiet)
  let begun: Manifest | undefined
  try {
    const source = await chooseSource({ earshot: remote.earshot, signal }, options)
    const { manifest, rows } = await begin(remote, source, options)
    begun = manifest
    const done = await waitFor(remote, source, manifest, rows, progress, signal)
    const output = options.output ?? nameOf(remote, done)
    await fetchTo(remote, done, output, progress, signal)
    progress.end()
    if (options.json) process.stdout.write(`${JSON.stringify({ ...done, file: output })}\n`)
    else if (output !== '-') process.stdout.write(`${output}\n`)
  } catch (error) {
    progress.end()
    if (begun && !(error instanceof ExportFailed)) {
      process.stderr.write(`earshot: to resume, run: ${toGoOn(begun, options)}\n`)
    }
    throw error
  }
}

const say = (error: unknown): void => {
  process.stderr.write(`earshot: ${plainLines(error instanceof Error ? error.message : String(error))}\n`)
}

export const run: RunCommand = async (called) => {
  const options = readOptions(called, new Date())
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort(new Error('Interrupted.'))
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    await exportAll(options, interrupted.signal)
    return 0
  } catch (error) {
    if (interrupted.signal.aborted) return 130
    if (!(error instanceof ExportFailed || error instanceof Damaged)) throw error
    say(error)
    return error instanceof Damaged ? 4 : 3
  } finally {
    process.removeListener('SIGINT', interrupt).removeListener('SIGTERM', interrupt)
  }
}
