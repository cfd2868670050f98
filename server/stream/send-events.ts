// Manages the event streams of this process. One connection to the database receives the changes of all organizations.
// For organizations with open streams, changes are collected for a moment, merged, and written to each stream with a
// reader who may learn about them.

import type { ServerResponse } from 'node:http'
import { Counter, Gauge } from 'prom-client'
import { type Change, changesChannel, type Notice, orgOfPayload, readPayload } from '../platform/changes/changes.ts'
import { ruleOf } from '../platform/changes/resources.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Listener } from '../platform/db/listen.ts'
import { ApiError } from '../platform/errors.ts'
import type { Metrics } from '../platform/http/metrics.ts'
import type { Actor } from '../platform/identity/actor.ts'
import type { Identity } from '../platform/identity/identity.ts'
import { newId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { type Audience, classOf, mayLearn } from './audience.ts'
import { encodeEvents, eventsOf, heartbeat, mergeChanges, resync, type StreamEvent } from './events.ts'
import { openRing, type Ring } from './ring.ts'

/**
 * The time for which changes are collected, so that each stream gets a single write. The first change is sent
 * immediately.
 */
const mergeMs = 500
const heartbeatSeconds = 20
const healthSeconds = 60
/**
 * The maximum number of bytes that a reader can leave unread. A reader who exceeds it is disconnected, and catches up
 * after reconnecting.
 */
const mostUnread = 64 * 1024
/** The maximum number of an organization's notifications that can wait to be written. */
const mostPending = 1_000
/** The time for which an organization without streams is remembered, in case its readers reconnect. */
const keptMs = 2 * 60_000
/** The number of readers with concurrent access checks. */
const checksAtOnce = 8

export type Reader = {
  actor: Actor
  response: ServerResponse
  /** The position after which events are sent. */
  lastEventId: string | undefined
  /** Identifies the reader again. Throws if access has ended. */
  identifyAgain: () => Promise<{ actor: Actor; expiresAt: Date | null }>
}

export type Streams = {
  /**
   * Opens a stream. Rejects if a limit is reached. Resolves once the stream is open, and calls `begin` to write the
   * head of the response.
   */
  open: (reader: Reader, begin: () => void) => Promise<void>
  /** Ends all streams and accepts no others, so that clients reconnect to another process. */
  drain: () => void
  close: () => void
}

type Stream = Reader & { expiresAt: Date | null; audience: Audience; className: string; slot: number }

type Topic = {
  org: OrgId
  streams: Set<Stream>
  ring: Ring
  /** The notifications that have not been written yet. */
  pending: Notice[]
  /** The position of the last notifications that were written. */
  written: string
  writtenAt: number
  timer: NodeJS.Timeout | undefined
  isWriting: boolean
  /** The people with an unfinished blind review. Undefined if that may have changed. */
  blind: Set<string> | undefined
  /** The number of times that `blind` may have changed. */
  doubts: number
  /** Whether changes were dropped before they were written. */
  hasLost: boolean
  leftAt: number
}

type Options = {
  config: Pick<Config, 'limits' | 'roles'>
  listener: Listener
  identity: Pick<Identity, 'onChange'>
  clock: Clock
  metrics: Pick<Metrics, 'registry'>
  log: Log
  /** Lists the people with an unfinished blind review. */
  listBlindReviewers: (org: OrgId) => Promise<string[]>
}

const tooMany = (whose: string) =>
  new ApiError('rateLimited', `${whose} too many open event streams. Close some of them.`, { retryAfterSeconds: 30 })

const full = (message: string) => new ApiError('unavailable', message, { retryAfterSeconds: 2 })

const isAboutBlindness = ({ changes }: Notice): boolean =>
  changes.some(({ resource }) => resource === 'reviews' || resource === 'buckets')

/**
 * Events that are sent after a person has submitted a blind review. Clients may have outdated versions of these
 * resources, because changes were hidden until then.
 */
const unhidden: StreamEvent[] = (['results', 'reviews'] as const)
  .filter((resource) => ruleOf(resource).hiddenFromBlind)
  .map((resource) => ({ kind: 'updated', resource }))

/**
 * The maximum number of events in one write. A client that would have to request more resources than this may as well
 * request everything.
 */
const mostEvents = 500

const eventsFor = (audience: Audience, changes: Change[]): StreamEvent[] => {
  const events = changes.filter((change) => mayLearn(audience, change)).flatMap(eventsOf)
  return events.length > mostEvents ? [resync] : events
}

/** Encodes changes once for all streams with the same access. */
const openEncoder = (changes: Change[], position: string) => {
  const isPersonal = changes.some(({ userIds }) => userIds !== undefined)
  const encoded = new Map<string, Buffer | undefined>()
  return ({ className, actor, audience }: Stream): Buffer | undefined => {
    const name = isPersonal ? `${className} ${actor.userId}` : className
    if (!encoded.has(name)) {
      const events = eventsFor(audience, changes)
      encoded.set(name, events.length > 0 ? encodeEvents(events, position) : undefined)
    }
    return encoded.get(name)
  }
}

export const openStreams = async (options: Options): Promise<Streams> => {
  const { config, listener, identity, clock, metrics, log, listBlindReviewers } = options
  const { limits } = config
  const topics = new Map<string, Topic>()
  const slots = Array.from({ length: heartbeatSeconds }, () => new Set<Stream>())
  /** The number of streams of each person, including those that are about to open. */
  const byPerson = new Map<string, number>()
  const byOrg = new Map<string, number>()
  let count = 0
  let opened = 0
  let second = 0
  let ticking: NodeJS.Timeout | undefined
  let draining = false

  new Gauge({
    name: 'earshot_streams',
    help: 'Open event streams.',
    registers: [metrics.registry],
    collect() {
      this.set(count)
    },
  })
  const cuts = new Counter({
    name: 'earshot_streams_cut_total',
    help: 'Event streams that were disconnected because their reader was too slow.',
    registers: [metrics.registry],
  })

  const reserve = ({ org, userId }: Actor): (() => void) => {
    if (draining) throw full('This process is stopping. Reconnect to reach another one.')
    const person = `${org} ${userId}`
    const [ofPerson, ofOrg] = [byPerson.get(person) ?? 0, byOrg.get(org) ?? 0]
    if (ofPerson >= limits.streamsPerPerson) throw tooMany('You have')
    if (ofOrg >= limits.streamsPerOrganization) throw tooMany('Your organization has')
    if (count >= limits.streams) throw full('This process has too many open event streams.')
    count++
    byPerson.set(person, ofPerson + 1)
    byOrg.set(org, ofOrg + 1)
    const release = (counts: Map<string, number>, name: string) => {
      const left = (counts.get(name) ?? 1) - 1
      if (left > 0) counts.set(name, left)
      else counts.delete(name)
    }
    return () => {
      count--
      release(byPerson, person)
      release(byOrg, org)
    }
  }

  const topicOf = (org: OrgId): Topic => {
    const known = topics.get(org)
    if (known) return known
    const position = newId()
    const topic: Topic = {
      org,
      streams: new Set(),
      ring: openRing(position),
      pending: [],
      written: position,
      writtenAt: Number.NEGATIVE_INFINITY,
      timer: undefined,
      isWriting: false,
      blind: undefined,
      doubts: 0,
      hasLost: false,
      leftAt: performance.now(),
    }
    topics.set(org, topic)
    ticking ??= setInterval(tick, 1_000).unref()
    return topic
  }

  const remove = (topic: Topic, stream: Stream): void => {
    if (!topic.streams.delete(stream)) return
    slots[stream.slot]?.delete(stream)
    topic.leftAt = performance.now()
  }

  const end = (topic: Topic, stream: Stream): void => {
    remove(topic, stream)
    stream.response.end()
  }

  const write = (topic: Topic, stream: Stream, bytes: Buffer): void => {
    const { response } = stream
    if (response.writableLength <= mostUnread) {
      response.write(bytes)
      return
    }
    remove(topic, stream)
    cuts.inc()
    response.destroy()
  }

  const setAudience = (topic: Topic, stream: Stream): void => {
    const isBlind = topic.blind?.has(stream.actor.userId) ?? true
    stream.audience = { ...stream.actor, isBlind }
    stream.className = classOf(stream.audience)
  }

  /** Looks up who has an unfinished blind review. Nothing is written until this is known. */
  const learnBlindness = async (topic: Topic): Promise<void> => {
    while (topic.blind === undefined) {
      const { doubts } = topic
      const userIds = await listBlindReviewers(topic.org)
      if (topic.doubts === doubts) topic.blind = new Set(userIds)
    }
    for (const stream of topic.streams) {
      const { isBlind } = stream.audience
      setAudience(topic, stream)
      if (isBlind && !stream.audience.isBlind) write(topic, stream, encodeEvents(unhidden, topic.written))
    }
  }

  const writeChanges = (topic: Topic, notices: Notice[], position: string): void => {
    topic.written = position
    const encode = openEncoder(mergeChanges(notices), position)
    for (const stream of topic.streams) {
      const bytes = encode(stream)
      if (bytes) write(topic, stream, bytes)
    }
  }

  const writeResync = (topic: Topic, position: string): void => {
    topic.written = position
    for (const stream of topic.streams) write(topic, stream, encodeEvents([resync], position))
  }

  const writePending = (topic: Topic): void => {
    const { hasLost } = topic
    const notices = topic.pending.splice(0)
    topic.hasLost = false
    topic.writtenAt = performance.now()
    const last = notices.at(-1)
    if (!last) return
    if (hasLost) writeResync(topic, last.id)
    else writeChanges(topic, notices, last.id)
  }

  const flush = async (topic: Topic): Promise<void> => {
    topic.timer = undefined
    if (topic.isWriting) return
    topic.isWriting = true
    try {
      // Changes that arrive during the check are also written, so the access must be current for them, too.
      do {
        await checking
        if (topic.streams.size > 0) await learnBlindness(topic)
      } while (checking)
      writePending(topic)
    } catch (error) {
      log.warn({ err: error, org: topic.org }, 'ended event streams because the database did not respond')
      for (const stream of topic.streams) end(topic, stream)
    } finally {
      topic.isWriting = false
    }
    if (topic.pending.length > 0) schedule(topic)
  }

  const schedule = (topic: Topic): void => {
    if (topic.timer || topic.isWriting) return
    const waitMs = Math.max(0, topic.writtenAt + mergeMs - performance.now())
    topic.timer = setTimeout(() => void flush(topic), waitMs)
  }

  const doubtBlindness = (topic: Topic): void => {
    topic.blind = undefined
    topic.doubts++
  }

  const onNotice = (payload: string): void => {
    const topic = topics.get(orgOfPayload(payload))
    if (!topic) return
    const notice = readPayload(payload)
    topic.ring.add(notice.id, payload)
    if (isAboutBlindness(notice)) doubtBlindness(topic)
    if (topic.streams.size === 0) {
      topic.written = notice.id
      return
    }
    topic.pending.push(notice)
    if (topic.pending.length > mostPending) {
      topic.hasLost = true
      topic.pending = [notice]
    }
    schedule(topic)
  }

  /** Handles a loss of notifications. */
  const onReconnect = (): void => {
    for (const topic of topics.values()) {
      const position = newId()
      topic.ring.restart(position)
      topic.pending = []
      doubtBlindness(topic)
      writeResync(topic, position)
    }
  }

  const toCheck = new Map<Stream, Topic>()
  /** Resolves when the access of all uncertain readers is known. Nothing is written until then. */
  let checking: Promise<unknown> | undefined

  const check = async (topic: Topic, stream: Stream): Promise<void> => {
    const { org, userId } = stream.actor
    try {
      const { actor, expiresAt } = await stream.identifyAgain()
      if (actor.org !== org || actor.userId !== userId) return end(topic, stream)
      stream.actor = actor
      stream.expiresAt = expiresAt
      setAudience(topic, stream)
    } catch {
      // The client learns the reason when it reconnects.
      end(topic, stream)
    }
  }

  const checkAll = async (): Promise<void> => {
    const work = async () => {
      for (const [stream, topic] of toCheck) {
        toCheck.delete(stream)
        await check(topic, stream)
      }
    }
    while (toCheck.size > 0) await Promise.all(Array.from({ length: checksAtOnce }, work))
    checking = undefined
  }

  const checkAgain = (topic: Topic, stream: Stream): void => {
    toCheck.set(stream, topic)
    checking ??= checkAll()
  }

  const onIdentityChange = (org: string): void => {
    for (const topic of topics.values()) {
      if (org !== '' && org !== topic.org) continue
      for (const stream of topic.streams) checkAgain(topic, stream)
    }
  }

  const beat = (): void => {
    const now = clock.now()
    for (const stream of slots[second % heartbeatSeconds] ?? []) {
      const topic = topics.get(stream.actor.org)
      if (!topic) continue
      if (stream.expiresAt && stream.expiresAt <= now) checkAgain(topic, stream)
      else write(topic, stream, heartbeat(topic.written))
    }
  }

  /** Announces changes to health regularly, because some checks only depend on time, such as the one for silence. */
  const announceHealth = (): void => {
    const changes: Change[] = [{ resource: 'health', kind: 'updated' }]
    for (const topic of topics.values()) {
      if (topic.streams.size === 0) continue
      topic.pending.push({ org: topic.org, id: topic.written, changes })
      schedule(topic)
    }
  }

  const tick = (): void => {
    second++
    beat()
    if (second % healthSeconds === 0) announceHealth()
    const now = performance.now()
    for (const [org, topic] of topics) {
      if (topic.streams.size === 0 && !byOrg.has(org) && now - topic.leftAt > keptMs) {
        clearTimeout(topic.timer)
        topics.delete(org)
      }
    }
    if (topics.size > 0) return
    clearInterval(ticking)
    ticking = undefined
  }

  const catchUp = (topic: Topic, stream: Stream): void => {
    const { lastEventId } = stream
    const position = topic.ring.position()
    const missed = lastEventId === undefined ? [] : topic.ring.after(lastEventId)
    const events = missed ? eventsFor(stream.audience, mergeChanges(missed)) : [resync]
    write(topic, stream, events.length > 0 ? encodeEvents(events, position) : heartbeat(position))
  }

  const open: Streams['open'] = async (reader, begin) => {
    // If the reader left before they were identified, the stream won't close again, and would be counted forever.
    if (reader.response.destroyed) return
    const release = reserve(reader.actor)
    reader.response.once('close', release)
    const topic = topicOf(reader.actor.org)
    await learnBlindness(topic)
    if (reader.response.destroyed) return
    if (draining) throw full('This process is stopping. Reconnect to reach another one.')
    const audience = { ...reader.actor, isBlind: true }
    const stream: Stream = { ...reader, expiresAt: null, audience, className: '', slot: opened++ % heartbeatSeconds }
    setAudience(topic, stream)
    begin()
    topic.streams.add(stream)
    slots[stream.slot]?.add(stream)
    reader.response.once('close', () => remove(topic, stream))
    catchUp(topic, stream)
    // Access may have ended while the stream opened.
    checkAgain(topic, stream)
  }

  const drain = (): void => {
    draining = true
    for (const topic of topics.values()) {
      clearTimeout(topic.timer)
      for (const stream of topic.streams) end(topic, stream)
    }
  }

  if (config.roles.includes('http')) {
    identity.onChange(onIdentityChange)
    await listener.on(changesChannel, onNotice, onReconnect)
  }
  return {
    open,
    drain,
    close: () => {
      drain()
      clearInterval(ticking)
    },
  }
}
