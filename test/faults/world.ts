// Runs the service as in a large installation, for many rounds: there are processes for requests and for jobs, with a
// database, file storage, and external services, each behind an unreliable network.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { type Embedded, openEmbedded } from '../../server/platform/db/embedded.ts'
import { signal } from '../../server/platform/db/process-control.ts'
import { findPostmaster, makeDataDir, type RunningEarshot, startEarshot, takeFreePort } from '../earshot.ts'
import { serve } from '../outside.ts'
import { openPassage, type Passage } from '../passage.ts'
import { startS3Server } from '../s3-server.ts'
import { answer, serveModel } from '../support/monitors/model-server.ts'
import { openReceiver, receiverCertificate } from '../support/webhooks/receiver.ts'
import { openClient } from './client.ts'
import { openDisk } from './disk.ts'

export type StorageKind = 's3' | 'files'

/** This library changes a process's time if it is installed (Debian: faketime). */
const multiarch = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
const faketime = `/usr/lib/${multiarch}-linux-gnu/faketime/libfaketimeMT.so.1`
export const canFakeTime = existsSync(faketime)

const startWithinMs = 60_000
const databaseMebibytes = 640
const filesMebibytes = 64

/** The words of an angry customer. */
export const angryWords = 'I shall never again call you.'

const judge = (transcript: string) =>
  transcript.includes(angryWords)
    ? { result: 'affected', evidence: [{ turn: 2, quote: angryWords }] }
    : { result: 'not_affected' }

/** Returns the bytes at a recording's URL. */
export const recordingAt = (name: string): Buffer => {
  const bytes = Buffer.alloc(20_000, name)
  bytes.write('RIFF', 0)
  bytes.writeUInt32LE(bytes.length - 8, 4)
  bytes.write('WAVEfmt ', 8)
  return bytes
}

const childrenOf = async (parent: number): Promise<number[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(parent)]).catch(() => ({
    stdout: '',
  }))
  return stdout.trim().split(/\s+/).filter(Boolean).map(Number)
}

const openDatabaseServer = async (dataDir: string) => {
  const open = () =>
    openEmbedded({
      dataDir,
      log: pino({ level: 'silent' }),
      applicationName: 'faults',
      settings: { max_wal_size: '96MB', min_wal_size: '32MB', max_connections: '200', shared_buffers: '64MB' },
      onState: (state) => {
        isGivenUp = state === 'failed'
      },
    })
  let isGivenUp = false
  let embedded: Embedded = await open()
  onTestFinished(() => embedded.close())
  const { host = '', user = '', database = '' } = embedded.connection
  const pool = new pg.Pool({ host, user, database, max: 4 })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  onTestFinished(() => pool.end())

  const query = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows

  return {
    dataDir,
    target: () => ({ path: join(host, '.s.PGSQL.5432') }),
    url: (port: number) => `postgresql://${user}@127.0.0.1:${port}/${database}`,
    query,
    /** Kills the postmaster, and all other database processes only if `all` is set. */
    kill: async ({ all }: { all: boolean }) => {
      const postmaster = await findPostmaster(dataDir).catch(() => undefined)
      if (postmaster === undefined) return
      for (const pid of all ? await childrenOf(postmaster) : []) signal(pid, 'SIGKILL')
      signal(postmaster, 'SIGKILL')
    },
    /**
     * Starts the database again if it gave up because its disk was full for too long. In production, a supervisor does
     * this.
     */
    untilUp: async () => {
      const deadline = performance.now() + startWithinMs
      for (;;) {
        try {
          if (isGivenUp) {
            await embedded.close()
            isGivenUp = false
            embedded = await open()
          }
          return await query('SELECT 1')
        } catch (error) {
          if (performance.now() > deadline) throw error
          await pause(100)
        }
      }
    },
  }
}

type ServiceProcess = {
  name: string
  role: 'http' | 'worker'
  switches: Record<string, string>
  network: Passage
  clock: string
}

/** Starts a process that can be killed and started again. */
const openMember = async ({ name, role, switches, network, clock }: ServiceProcess) => {
  let running: RunningEarshot | undefined
  let starting: Promise<void> | undefined
  /** The output of each process that ended on its own. */
  const deaths: string[] = []

  const start = async () => {
    const deadline = performance.now() + startWithinMs
    for (;;) {
      try {
        const started = await startEarshot(switches)
        running = started
        started.ended.then(({ code, signal: by }) => {
          if (running === started)
            deaths.push(`${name} ended by itself (${code ?? by}): ${started.stderr().slice(-2_000)}`)
        })
        return
      } catch (error) {
        // The database of the process may be unavailable.
        if (performance.now() > deadline) throw error
        await pause(200)
      }
    }
  }

  const send = (name: NodeJS.Signals) => running?.child.kill(name)
  await writeFile(clock, '+0')
  await start()
  return {
    name,
    role,
    /** The network between the process and its database. */
    network,
    deaths,
    stop: () => send('SIGSTOP'),
    go: () => send('SIGCONT'),
    kill: async () => {
      const killed = running
      running = undefined
      killed?.child.kill('SIGKILL')
      await killed?.ended
    },
    /** Starts the process once, even if several faults need it. */
    start: async () => {
      if (running) return
      starting ??= start().finally(() => {
        starting = undefined
      })
      await starting
    },
    shiftClock: (seconds: number) => writeFile(clock, seconds < 0 ? String(seconds) : `+${seconds}`),
    end: async () => {
      const ending = running
      running = undefined
      ending?.child.kill('SIGTERM')
      return ending?.ended
    },
  }
}

export type TrafficMember = Awaited<ReturnType<typeof openMember>>

const openStorage = async (kind: StorageKind, folder: string) => {
  if (kind === 'files') {
    const files = join(folder, 'files')
    const disk = await openDisk(files, filesMebibytes)
    const list = async (prefix: string) =>
      (await readdir(join(files, prefix)).catch(() => [])).map((name) => prefix + name)
    return { kind, disk, list, switches: { EARSHOT_STORAGE: `file:${files}`, EARSHOT_STORAGE_SHARED: 'true' } }
  }
  const server = await startS3Server()
  onTestFinished(server.close)
  const network = await openPassage(() => ({ port: Number(new URL(server.endpoint).port), host: '127.0.0.1' }))
  const switches = {
    EARSHOT_STORAGE: `s3://${server.bucket}`,
    EARSHOT_S3_ENDPOINT: `http://127.0.0.1:${network.port}`,
    ...server.environment,
  }
  const list = async (prefix: string) => [...server.objects.keys()].filter((name) => name.startsWith(prefix))
  return { kind, server, network, list, switches }
}

export const openWorld = async (kind: StorageKind) => {
  const folder = await makeDataDir()
  const databaseFolder = join(folder, 'database')
  const databaseDisk = await openDisk(databaseFolder, databaseMebibytes)
  await chmod(databaseFolder, 0o711)
  const database = await openDatabaseServer(databaseFolder)
  const storage = await openStorage(kind, folder)

  const to = (url: string) => () => ({ port: Number(new URL(url).port), host: '127.0.0.1' })
  const receiver = await openReceiver(200)
  const receiverNetwork = await openPassage(to(receiver.url))
  const model = await serveModel(({ transcript }) => answer(judge(transcript)))
  const judgeNetwork = await openPassage(to(model.url))
  const recordings = await serve((request, response) => {
    response.setHeader('content-type', 'audio/wav')
    response.end(recordingAt(request.url ?? ''))
  })
  const recordingsNetwork = await openPassage(to(recordings.url))

  const certificate = join(folder, 'receiver.pem')
  await writeFile(certificate, receiverCertificate)
  const common = {
    ...storage.switches,
    EARSHOT_SECRET_KEY: 'the-secret-key-of-the-faults-0123456789',
    EARSHOT_DATA_DIR: join(folder, 'unused'),
    EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
    EARSHOT_JUDGE_BASE_URL: `http://127.0.0.1:${judgeNetwork.port}/v1`,
    EARSHOT_JUDGE_MODEL: 'model-1',
    EARSHOT_JUDGE_LIMITS: 'concurrency=2,timeoutMs=1500',
    EARSHOT_LIMITS: 'ratePerSecond=100000,rateBurst=100000',
    NODE_EXTRA_CA_CERTS: certificate,
  }
  const ports = [await takeFreePort(), await takeFreePort()]
  const httpNetworks = await Promise.all(ports.map((port) => openPassage(() => ({ port, host: '127.0.0.1' }))))
  const origins = httpNetworks.map(({ port }) => `http://127.0.0.1:${port}`)
  await mkdir(join(folder, 'clocks'))

  const startProcess = async (role: ServiceProcess['role'], index: number): Promise<ServiceProcess> => {
    const clock = join(folder, 'clocks', `${role}-${index + 1}`)
    const network = await openPassage(database.target)
    const switches = {
      ...common,
      EARSHOT_ROLES: role,
      DATABASE_URL: database.url(network.port),
      EARSHOT_BASE_URL: origins[0] ?? '',
      ...(role === 'http' && { PORT: String(ports[index]) }),
      ...(canFakeTime && {
        LD_PRELOAD: faketime,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      }),
    }
    return { name: `${role} ${index + 1}`, role, switches, network, clock }
  }
  // The first process creates the tables. The others would have to wait for it.
  const first = await openMember(await startProcess('http', 0))
  const places = [await startProcess('http', 1), await startProcess('worker', 0), await startProcess('worker', 1)]
  const members = [first, ...(await Promise.all(places.map(openMember)))]

  return {
    database,
    databaseDisk,
    storage,
    receiver: {
      url: receiver.url.replace(/:\d+/, `:${receiverNetwork.port}`),
      received: receiver.received,
      network: receiverNetwork,
    },
    judge: { network: judgeNetwork },
    recordings: { url: `http://127.0.0.1:${recordingsNetwork.port}`, network: recordingsNetwork },
    httpNetworks,
    members,
    client: openClient(origins),
    deaths: () => members.flatMap(({ deaths }) => deaths),
  }
}

export type World = Awaited<ReturnType<typeof openWorld>>
