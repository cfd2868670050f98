// Simulates how many nodes a load needs. Organizations of different sizes are hashed to shards, shards are balanced
// like Citus's rebalancer does, and the fullest node serves random arrivals.

/** The costs of requests, and of a stored conversation. */
export type Costs = {
  /** Milliseconds of one core: on a node, on the node that receives the statement, and in an Earshot process. */
  ingest: Cost
  list: Cost
  open: Cost
  /** The size of a conversation with its transcript and results, in tables and indexes. */
  bytesPerConversation: number
  walBytesPerConversation: number
}

export type Cost = { nodeMs: number; coordinatorMs: number; earshotMs: number }

export type Load = {
  conversationsPerSecond: number
  /** The number of lists for each conversation that arrives. */
  listsPerConversation: number
  opensPerConversation: number
  organizations: number
  /**
   * With 0, all organizations are equal. With 1, the second is half as large as the first, and the third a third as
   * large.
   */
  inequality: number
  daysKept: number
}

export type Machines = { coresPerNode: number; diskBytes: number; shards: number; seed: number }

export type CapacityVerdict = {
  nodes: number
  /** The share of cores and disk that the fullest node uses, and how long a request waits there for a core. */
  utilization: number
  diskShare: number
  p99WaitMs: number
  skew: number
  earshotCores: number
  coordinatorCores: number
  walBytesPerSecond: number
  /** The resource that makes this many nodes necessary. */
  bound: 'cores' | 'disk' | 'waiting' | 'the largest organization'
  largestShare: number
}

const mostUtilization = 0.6
const mostDisk = 0.8
const mostWaitMs = 50
const mostNodes = 20_000

/** Returns a seeded generator (mulberry32), so that a run can be repeated. */
const openRandom = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const sharesOf = ({ organizations, inequality }: Load): number[] => {
  const weights = Array.from({ length: organizations }, (_, at) => 1 / (at + 1) ** inequality)
  const sum = weights.reduce((all, weight) => all + weight, 0)
  return weights.map((weight) => weight / sum)
}

/**
 * Returns the sizes of shards. An organization that is larger than an average shard gets its own, as with `db isolate`.
 */
const shardsOf = (shares: number[], shards: number, random: () => number): number[] => {
  const sizes = new Array<number>(shards).fill(0)
  const isolated: number[] = []
  for (const share of shares) {
    if (share > 1 / shards) isolated.push(share)
    else {
      const at = Math.floor(random() * shards)
      sizes[at] = (sizes[at] ?? 0) + share
    }
  }
  return [...sizes, ...isolated].toSorted((a, b) => b - a)
}

/** Assigns shards to nodes, the largest first, each to the emptiest node. Returns the share of the fullest node. */
const fullestOf = (sizes: number[], nodes: number): number => {
  const loads = new Float64Array(nodes)
  for (const size of sizes) {
    let least = 0
    for (let node = 1; node < nodes; node++) if ((loads[node] ?? 0) < (loads[least] ?? 0)) least = node
    loads[least] = (loads[least] ?? 0) + size
  }
  return loads.reduce((most, share) => Math.max(most, share), 0)
}

/** Returns the 99th percentile of how long a request waits for a core, with random arrivals and durations. */
const waitAt = (utilization: number, cores: number, meanMs: number, random: () => number): number => {
  if (utilization >= 1) return Infinity
  const freeAt = new Float64Array(cores)
  const exponential = (mean: number) => -mean * Math.log(1 - random())
  const waits: number[] = []
  let now = 0
  for (let request = 0; request < 50_000; request++) {
    now += exponential(meanMs / (utilization * cores))
    let first = 0
    for (let core = 1; core < cores; core++) if ((freeAt[core] ?? 0) < (freeAt[first] ?? 0)) first = core
    const start = Math.max(now, freeAt[first] ?? 0)
    waits.push(start - now)
    freeAt[first] = start + exponential(meanMs)
  }
  waits.sort((a, b) => a - b)
  return waits[Math.floor(waits.length * 0.99)] ?? 0
}

export const findNodes = (
  costs: Costs,
  load: Load,
  { coresPerNode, diskBytes, shards, seed }: Machines,
): CapacityVerdict => {
  const random = openRandom(seed)
  const perSecond = load.conversationsPerSecond
  const kinds: [Cost, number][] = [
    [costs.ingest, perSecond],
    [costs.list, perSecond * load.listsPerConversation],
    [costs.open, perSecond * load.opensPerConversation],
  ]
  const coresFor = (part: keyof Cost) => kinds.reduce((sum, [cost, rate]) => sum + (cost[part] * rate) / 1_000, 0)
  const requests = kinds.reduce((sum, [, rate]) => sum + rate, 0)
  const nodeCores = coresFor('nodeMs')
  const meanMs = (nodeCores * 1_000) / requests
  const storedBytes = perSecond * 86_400 * load.daysKept * costs.bytesPerConversation
  const shares = sharesOf(load)
  const sizes = shardsOf(shares, shards, random)
  const at = (nodes: number) => {
    const fullest = fullestOf(sizes, nodes)
    const utilization = (fullest * nodeCores) / coresPerNode
    const diskShare = (fullest * storedBytes) / diskBytes
    return { fullest, utilization, diskShare, p99WaitMs: waitAt(utilization, coresPerNode, meanMs, random) }
  }
  const holds = ({ utilization, diskShare, p99WaitMs }: ReturnType<typeof at>) =>
    utilization <= mostUtilization && diskShare <= mostDisk && p99WaitMs <= mostWaitMs
  const forCores = Math.ceil(nodeCores / coresPerNode / mostUtilization)
  const forDisk = Math.ceil(storedBytes / diskBytes / mostDisk)
  const largest = sizes[0] ?? 0
  const largestFits =
    (largest * nodeCores) / coresPerNode <= mostUtilization && (largest * storedBytes) / diskBytes <= mostDisk
  const most = largestFits ? Math.min(mostNodes, sizes.length) : 0
  let nodes = Math.max(1, forCores, forDisk)
  let state = at(nodes)
  while (nodes < most && !holds(state)) {
    nodes += Math.max(1, Math.floor(nodes / 50))
    state = at(nodes)
  }
  const bound = holds(state)
    ? nodes > Math.max(forCores, forDisk) * 1.1
      ? 'waiting'
      : forDisk > forCores
        ? 'disk'
        : 'cores'
    : 'the largest organization'
  return {
    nodes,
    utilization: state.utilization,
    diskShare: state.diskShare,
    p99WaitMs: state.p99WaitMs,
    skew: state.fullest * nodes,
    earshotCores: coresFor('earshotMs') / mostUtilization,
    coordinatorCores: coresFor('coordinatorMs') / mostUtilization,
    walBytesPerSecond: perSecond * costs.walBytesPerConversation,
    bound,
    largestShare: shares[0] ?? 0,
  }
}
