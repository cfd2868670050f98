// Defines the faults, and how each is repaired.
import type { SeededRandom } from '../malformed.ts'
import { type Network, type Passage, sound } from '../passage.ts'
import { canFakeTime, type TrafficMember, type World } from './world.ts'

export type InjectedFault = {
  name: string
  afterMs: number
  /** The duration of the fault. */
  forMs: number
  begin: () => Promise<unknown> | unknown
  end: () => Promise<unknown> | unknown
}

type Choice = Omit<InjectedFault, 'afterMs'>
type Maker = (world: World, random: SeededRandom) => Choice | undefined

/** This is longer than the lease of an attempt that is not renewed. */
const beyondLeaseMs = 11_500
const hour = 3_600

const moment = (random: SeededRandom) => 300 + random.below(1_300)

const kill: Maker = ({ members }, random) => {
  const member = random.pick(members)
  return { name: `kill -9 of ${member.name}`, forMs: random.below(500), begin: member.kill, end: member.start }
}

const killDatabase: Maker = ({ database }, random) => {
  const all = random.chance(0.5)
  const name = all ? 'kill -9 of all processes of the database' : 'kill -9 of the postmaster'
  return { name, forMs: 0, begin: () => database.kill({ all }), end: database.untilUp }
}

const stop: Maker = ({ members }, random) => {
  const member = random.pick(members)
  const isLong = member.role === 'worker' && random.chance(0.15)
  const name = `${member.name} stands still${isLong ? ' for longer than its lease' : ''}`
  return { name, forMs: isLong ? beyondLeaseMs : moment(random) * 2, begin: member.stop, end: member.go }
}

const shiftClock: Maker = ({ members }, random) => {
  if (!canFakeTime) return undefined
  const member = random.pick(members)
  // The service rightly rejects conversations that start more than five minutes in the future.
  const behind = member.role === 'http' ? 240 : 2 * hour
  const seconds = random.chance(0.5) ? 1 + random.below(2 * hour) : -1 - random.below(behind)
  const end = () => member.shiftClock(0)
  const name = `the clock of ${member.name} jumps by ${seconds} s`
  return { name, forMs: moment(random) * 2, begin: () => member.shiftClock(seconds), end }
}

const fullDisk =
  (name: string, diskOf: (world: World) => World['databaseDisk']): Maker =>
  (world, random) => {
    const disk = diskOf(world)
    if (!disk) return undefined
    const end = async () => {
      await disk.free()
      await world.database.untilUp()
    }
    return { name: `${name} is full`, forMs: moment(random), begin: disk.fill, end }
  }

const refusingStorage: Maker = ({ storage }, random) => {
  if (storage.kind !== 's3') return undefined
  const { state } = storage.server
  const set = (fault: () => string | undefined) => () => {
    state.fault = fault
  }
  return {
    name: 'the storage answers 503',
    forMs: moment(random),
    begin: set(() => 'SlowDown'),
    end: set(() => undefined),
  }
}

const networks = (random: SeededRandom): Network[] => [
  { kind: 'slow', delayMs: 20 + random.below(200), bytesPerSecond: 20_000 + random.below(200_000) },
  { kind: 'silent' },
  { kind: 'cutting', answerBytes: random.below(4_000) },
  { kind: 'resetting' },
]

const failNetwork = (name: string, proxy: Passage, random: SeededRandom): Choice => {
  const network = random.pick(networks(random))
  const resets = random.chance(0.5)
  const end = () => {
    if (resets) proxy.reset()
    proxy.become(sound)
  }
  const how = network.kind === 'silent' ? `silent, then ${resets ? 'reset' : 'late'}` : network.kind
  return { name: `the network ${name} is ${how}`, forMs: moment(random), begin: () => proxy.become(network), end }
}

const databaseNetwork: Maker = ({ members }, random) => {
  const { name, network } = random.pick(members)
  return failNetwork(`between ${name} and its database`, network, random)
}

const clientNetwork: Maker = ({ httpNetworks }, random) =>
  failNetwork('between the client and a process', random.pick(httpNetworks), random)

const storageNetwork: Maker = ({ storage }, random) =>
  storage.kind === 's3' ? failNetwork('to the storage', storage.network, random) : undefined

const outsideNetwork: Maker = ({ receiver, recordings }, random) =>
  random.chance(0.5)
    ? failNetwork('to the receiver of webhooks', receiver.network, random)
    : failNetwork('to recordings', recordings.network, random)

/** The circuit breaker pauses a failing endpoint. A new worker starts without this pause. */
const judgeNetwork: Maker = ({ judge, members }, random) => {
  const fault = failNetwork('to the judge', judge.network, random)
  const anew = async ({ kill, start }: TrafficMember) => {
    await kill()
    await start()
  }
  const end = async () => {
    await fault.end()
    await Promise.all(members.filter(({ role }) => role === 'worker').map(anew))
  }
  return { ...fault, name: `${fault.name}, and the workers are killed`, end }
}

const makers: Maker[] = [
  kill,
  kill,
  killDatabase,
  stop,
  shiftClock,
  fullDisk('the disk of the database', ({ databaseDisk }) => databaseDisk),
  fullDisk('the disk of the files', ({ storage }) => (storage.kind === 'files' ? storage.disk : undefined)),
  refusingStorage,
  databaseNetwork,
  databaseNetwork,
  clientNetwork,
  storageNetwork,
  outsideNetwork,
  judgeNetwork,
]

/** Chooses one to three different faults. Each follows some time of normal traffic. */
export const chooseFaults = (world: World, random: SeededRandom): InjectedFault[] => {
  const wanted = 1 + random.below(3)
  const chosen = new Map<string, InjectedFault>()
  while (chosen.size < wanted) {
    const maker = random.pick(makers)
    const fault = maker(world, random)
    if (fault) chosen.set(fault.name, { ...fault, afterMs: 200 + random.below(800) })
  }
  return [...chosen.values()]
}
