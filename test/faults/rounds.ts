import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject } from 'vitest'
import { type SeededRandom, seededRandom } from '../malformed.ts'
import { chooseFaults, type InjectedFault } from './faults.ts'
import { waitForRest } from './rest.ts'
import { openStage, type Stage, type Traffic } from './stage.ts'
import { openConversations } from './traffic/conversations.ts'
import { openErasures } from './traffic/erasures.ts'
import { compareEvents } from './traffic/events.ts'
import { compareExperiment } from './traffic/experiment.ts'
import { openExports } from './traffic/exports.ts'
import { openFindings } from './traffic/findings.ts'
import { openKeys } from './traffic/keys.ts'
import { openMeasures } from './traffic/measures.ts'
import { openProviders } from './traffic/providers.ts'
import { openRecordings } from './traffic/recordings.ts'
import { openReviews } from './traffic/reviews.ts'
import { canFakeTime, openWorld, type StorageKind, type World } from './world.ts'

/**
 * Plays rounds of one to three simultaneous faults under all kinds of traffic. Senders repeat requests until they are
 * acknowledged. Once everything works and is idle again, the acknowledged data is compared with the stored data:
 * nothing may be lost, duplicated, or stuck.
 */

/** The pause between two requests of one kind. It keeps traffic constant, but leaves most of the CPU to the service. */
const everyMs = 40
/** Traffic continues for this long after the last fault. */
const afterwardsMs = 300

const openTraffic = async (stage: Stage): Promise<Traffic[]> => {
  const conversations = openConversations(stage)
  const measures = openMeasures(stage, conversations)
  return [
    conversations,
    openProviders(stage),
    openRecordings(stage, conversations),
    measures,
    openKeys(stage),
    openFindings(stage, conversations),
    openErasures(stage),
    await openReviews(stage),
    openExports(stage, measures),
    { compare: () => compareExperiment(stage) },
    { compare: () => compareEvents(stage) },
  ]
}

const compareAll = async (traffic: Traffic[]) => {
  const found: string[] = []
  for (const { compare } of traffic) found.push(...(await compare()))
  return found
}

/** The traffic of a round, how long its parts took, and the errors that were found. */
type Played = { traffic: Traffic[]; took: string; found: string[] }

const playRound = async (world: World, random: SeededRandom, faults: InjectedFault[]): Promise<Played> => {
  const beganAt = performance.now()
  const traffic = await openTraffic(await openStage(world, random))
  let isOver = false
  const sending = Promise.all(
    traffic.map(async ({ send }) => {
      for (let count = 0; send && !isOver; count++) {
        await send(count)
        await pause(everyMs)
      }
    }),
  )
  const breaking = Promise.all(
    faults.map(async ({ begin, end, afterMs, forMs }) => {
      await pause(afterMs)
      await begin()
      await pause(forMs)
      await end()
    }),
  )
  try {
    // The race ends early if one of them fails.
    await Promise.race([breaking, sending])
    await pause(afterwardsMs)
  } finally {
    isOver = true
    await Promise.allSettled([breaking, sending])
  }
  await sending
  const seconds = () => ((performance.now() - beganAt) / 1_000).toFixed(1)
  let took = `${seconds()} s of traffic`
  const hanging = await waitForRest(world)
  took += `, at rest after ${seconds()} s`
  if (hanging.length > 0) return { traffic, took, found: hanging }
  for (const { finish } of traffic) await finish?.()
  const found = [...(await waitForRest(world)), ...(await compareAll(traffic)), ...world.deaths()]
  took += `, compared after ${seconds()} s`
  return { traffic, took, found }
}

const playSeed = async (world: World, number: number, seed: number): Promise<Traffic[]> => {
  const random = seededRandom(seed)
  const faults = chooseFaults(world, random)
  const told = faults.map(({ name, afterMs, forMs }) => `${name} (after ${afterMs} ms for ${forMs} ms)`).join('; ')
  const round = `round ${number} seed ${seed} faults: ${told}`
  process.stdout.write(`${round}\n`)
  const { traffic, took, found } = await playRound(world, random, faults).catch((error: unknown) => {
    throw new Error(`${round}\n${[error, ...world.deaths()].join('\n')}`, { cause: error })
  })
  process.stdout.write(`  round ${number}: ${took}\n`)
  if (found.length > 0) throw new Error(`${round}\n${found.slice(0, 40).join('\n')}`)
  return traffic
}

const storageOf = (seed: number): StorageKind => (seed % 2 === 0 ? 's3' : 'files')

const listLeftOut = ({ databaseDisk }: World): string[] => [
  ...(canFakeTime ? [] : ['clocks that jump, which need libfaketime (the Debian package faketime)']),
  ...(databaseDisk ? [] : ['full disks, which need a user who may mount one']),
]

/** Plays the drawn rounds of one kind of storage. Seeds on the command line may all be of the other kind. */
export const playRounds = async (storage: StorageKind): Promise<void> => {
  const drawn = inject('seeds').map((seed, at) => ({ number: at + 1, seed }))
  const rounds = drawn.filter(({ seed }) => storageOf(seed) === storage)
  if (rounds.length === 0) return
  const world = await openWorld(storage)
  for (const left of listLeftOut(world)) process.stdout.write(`left out: ${left}\n`)
  const all: Traffic[] = []
  for (const { number, seed } of rounds) all.push(...(await playSeed(world, number, seed)))
  // Data that was correct after its round is still correct.
  expect(await compareAll(all)).toEqual([])
  const { acknowledged, unanswered } = world.client.counts
  process.stdout.write(
    `${rounds.length} rounds on ${storage}: ${acknowledged} requests acknowledged, ${unanswered} not\n`,
  )
  const ends = await Promise.all(world.members.map(({ end }) => end()))
  expect(ends).toEqual(world.members.map(() => ({ code: 0, signal: null })))
}
