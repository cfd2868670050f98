import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { ask, makeDataDir, provision, startEarshot, takeFreePort } from '../../test/earshot.ts'
import { connectTo } from '../../test/faults/database.ts'
import { type SeededRandom, seededRandom } from '../../test/malformed.ts'
import {
  speak,
  speechRate,
  toFlac,
  toMp3,
  toOggOpus,
  toVorbis,
  toWav,
  toWebM,
  wavFormats,
} from '../../test/support/recordings.ts'
import { openNamelessFile } from '../platform/nameless-file.ts'
import { Undecodable } from './decoding/decode.ts'
import { measureRecording } from './measure.ts'

/**
 * Tests damaged recordings, and processes that are killed while they measure and redact. `--rounds 2000` measures
 * 10,000 damaged files.
 */

const seed = inject('seeds')[0] ?? 1
const filesPerRound = 5
const count = filesPerRound * inject('rounds')

const call = speak([
  { channel: 0, text: 'Hello, this is the clinic, how can I help you today?', startMs: 300 },
  { channel: 1, text: 'I would like to move my appointment to next Friday please.', startMs: 3_600 },
])

const encode = () => {
  const { channels } = call
  return Promise.all([
    ...Object.values(wavFormats).map((format) => toWav(channels, format)),
    toMp3(channels),
    toFlac(channels),
    toVorbis(channels),
    toOggOpus(channels),
    toWebM(channels),
  ])
}

type Damage = (content: Buffer, random: SeededRandom) => Buffer

/** Sizes and counts that decoders may trust. */
const oddNumbers = [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff]

const damages: Damage[] = [
  // Single-byte changes.
  (content, random) => {
    for (let byte = 0; byte < 1 + random.below(40); byte++) content[random.below(content.length)] = random.below(256)
    return content
  },
  // Changed headers, which describe the rest of the file.
  (content, random) => {
    for (let byte = 0; byte < 1 + random.below(6); byte++) content[random.below(120)] = random.below(256)
    return content
  },
  (content, random) => {
    content.writeUInt32LE(random.pick(oddNumbers), random.below(Math.min(400, content.length - 4)))
    return content
  },
  // Missing ends and missing middles.
  (content, random) => content.subarray(0, random.below(content.length)),
  (content, random) => {
    const start = random.below(content.length)
    return Buffer.concat([content.subarray(0, start), content.subarray(start + random.below(4_000))])
  },
  // Repeated and moved sections.
  (content, random) => {
    const start = random.below(content.length)
    const part = content.subarray(start, start + random.below(20_000))
    return Buffer.concat([content.subarray(0, start), part, part, part, content.subarray(start)])
  },
  (content, random) => Buffer.concat([content.subarray(random.below(content.length)), content]),
]

const damage = (content: Buffer, random: SeededRandom): Buffer => {
  let damaged = Buffer.from(content)
  for (let time = 0; time < 1 + random.below(2); time++) {
    const next = random.pick(damages)(damaged, random)
    if (next.length > 400) damaged = Buffer.from(next)
  }
  return damaged
}

type Outcome = 'measured' | 'undecodable'

/** A short recording is measured within this time, even if the machine is busy. */
const limitMs = 30_000

const measure = async (content: Buffer): Promise<Outcome> => {
  const file = await openNamelessFile()
  try {
    await file.appendFile(content)
    const { channels } = await measureRecording(file, AbortSignal.timeout(limitMs))
    expect(channels.every(({ peakDb, waveform }) => Number.isFinite(peakDb) && waveform.every(Number.isFinite))).toBe(
      true,
    )
    return 'measured'
  } catch (error) {
    if (error instanceof Undecodable) return 'undecodable'
    throw error
  } finally {
    await file.close()
  }
}

/** Memory and time are printed after this many files. */
const reportEvery = 1_000

const megabytes = () => process.memoryUsage.rss() / 1024 / 1024

it('measures damaged recordings or says why not, without crashes, hangs, or growth', {
  timeout: 60_000 + 2_000 * count,
}, async () => {
  process.stdout.write(`damaged recordings: ${count}, seed ${seed}\n`)
  const files = await encode()
  const outcomes: Record<Outcome, number> = { measured: 0, undecodable: 0 }
  const before = megabytes()
  const startedAt = performance.now()
  let slowest = { number: -1, ms: 0 }
  const measureNext = async (number: number) => {
    const random = seededRandom(seed + number)
    const content = damage(random.pick(files), random)
    const begunAt = performance.now()
    const outcome = await measure(content).catch((error: unknown) => {
      throw new Error(`damaged recording ${number} of seed ${seed}`, { cause: error })
    })
    outcomes[outcome]++
    const ms = performance.now() - begunAt
    if (ms > slowest.ms) slowest = { number, ms }
  }
  const report = (done: number): void => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
    const more = Math.round(megabytes() - before)
    const longest = `the slowest, number ${slowest.number}, in ${(slowest.ms / 1_000).toFixed(1)} s`
    process.stdout.write(
      `damaged recordings: ${done} of ${count}, ${JSON.stringify(outcomes)}, in ${seconds} s, ${longest}, ${more} MB more\n`,
    )
  }
  for (let number = 0; number < count; number += 2) {
    await Promise.all([measureNext(number), measureNext(number + 1)])
    if ((number + 2) % reportEvery === 0) report(number + 2)
  }
  report(count)
  expect(outcomes.measured).toBeGreaterThan(0)
  expect(outcomes.undecodable).toBeGreaterThan(0)
  expect(megabytes() - before).toBeLessThan(300)
})

const recordings = 8
const kills = Math.min(8, inject('rounds'))

/** The turn with a phone number, which is redacted. */
const secretTurn = { role: 'customer', text: 'Call 555 010 0199.', startMs: 10_000, endMs: 14_000 }
/** All speech must be transcribed. */
const transcript = [
  { role: 'other', text: 'Hello.', startMs: 0, endMs: 10_000 },
  secretTurn,
  { role: 'other', text: 'Goodbye.', startMs: 14_000, endMs: 60_000 },
]
const marginMs = 500

it('kills neither lose nor repeat a measurement, nor serve an original that is redacted', {
  timeout: 300_000,
}, async () => {
  process.stdout.write(`kills while measuring: seed ${seed}\n`)
  const random = seededRandom(seed)
  const dataDir = await makeDataDir()
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const switches = { PORT: String(port), EARSHOT_DATA_DIR: dataDir }
  let earshot = await startEarshot(switches)
  const { key, id: org } = await provision(origin)
  const settings = { soundRedaction: 'mute' }
  expect((await ask(origin, 'PATCH', '/v1/organization', key, settings)).status).toBe(200)
  const database = await connectTo(dataDir)
  // Records each time at which measures are stored.
  await database.query(`
    CREATE TABLE stored_sounds (conversation_id uuid NOT NULL);
    CREATE FUNCTION note_sound() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO stored_sounds VALUES (NEW.conversation_id); RETURN NULL; END $$;
    CREATE TRIGGER note_sound AFTER INSERT OR UPDATE OF measured ON recording_sounds
      FOR EACH ROW EXECUTE FUNCTION note_sound()`)
  await database.end()

  // Measuring a minute of sound takes long enough for a kill.
  const minute = call.channels.map((samples) => {
    const long = new Float32Array(60 * speechRate)
    for (let at = 0; at + samples.length < long.length; at += samples.length) long.set(samples, at)
    return long
  })
  const content = new Uint8Array(await toMp3(minute))
  const ids: string[] = []
  for (let number = 0; number < recordings; number++) {
    const body = {
      externalId: `call-${number}`,
      agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
      channel: 'call',
      startedAt: '2026-11-20T09:00:00Z',
      transcript,
    }
    const { id } = (await ask(origin, 'POST', '/v1/conversations', key, body)).body
    const answer = await fetch(`${origin}/v1/conversations/${id}/recording`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'audio/mpeg' },
      body: content,
    })
    expect(answer.status).toBe(200)
    ids.push(id)
  }
  /** Returns the served recording, or undefined while there is none. */
  const download = async (id: string): Promise<Buffer | undefined> => {
    const answer = await fetch(`${origin}/v1/conversations/${id}/recording`, {
      headers: { authorization: `Bearer ${key}` },
    })
    if (answer.status !== 200) return undefined
    return Buffer.from(await answer.arrayBuffer())
  }
  let served = 0
  const expectRedacted = (file: Buffer | undefined): void => {
    if (!file) return
    served++
    const [from = 0, to = 0] = [secretTurn.startMs - marginMs, secretTurn.endMs + marginMs].map(
      (ms) => 44 + 4 * Math.round((ms / 1_000) * speechRate),
    )
    expect(file.toString('latin1', 0, 4)).toBe('RIFF')
    expect(file.subarray(from + 4, to - 4).every((byte) => byte === 0)).toBe(true)
  }
  /** Requests recordings continuously, even while the service is being killed. */
  const player = { isOn: true }
  const playing = (async () => {
    while (player.isOn) {
      for (const id of ids) expectRedacted(await download(id).catch(() => undefined))
      await pause(20)
    }
  })()
  for (let kill = 0; kill < kills; kill++) {
    await pause(random.below(1_500))
    earshot.child.kill('SIGKILL')
    await earshot.ended
    earshot = await startEarshot(switches)
  }
  const stateOf = async (id: string) => {
    const sound = await ask(origin, 'GET', `/v1/conversations/${id}/sound`, key)
    const { body } = await ask(origin, 'GET', `/v1/conversations/${id}`, key)
    return [sound.body.status, body.recording.status]
  }
  for (const id of ids) await expect.poll(() => stateOf(id), { timeout: 120_000 }).toEqual(['measured', 'stored'])
  for (const id of ids) expectRedacted(await download(id))
  player.isOn = false
  await playing
  process.stdout.write(`redacted recordings served: ${served}\n`)
  expect(served).toBeGreaterThanOrEqual(recordings)

  const after = await connectTo(dataDir)
  try {
    const { rows } = await after.query(
      'SELECT conversation_id AS id, count(*)::int AS count FROM stored_sounds GROUP BY 1',
    )
    expect(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(ids.toSorted().map((id) => ({ id, count: 1 })))
    const counted = await after.query(
      'SELECT count(*)::int AS count FROM recording_sounds WHERE organization_id = $1',
      [org],
    )
    expect(counted.rows).toEqual([{ count: recordings }])
    const kept = await after.query('SELECT count(*)::int AS count FROM recordings WHERE original_key IS NOT NULL')
    expect(kept.rows).toEqual([{ count: 0 }])
  } finally {
    await after.end()
  }
})
