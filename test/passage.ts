// Simulates network failures between two parts of the service with a TCP proxy.
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { listen } from './outside.ts'

export type Network =
  | { kind: 'sound' }
  | { kind: 'slow'; delayMs: number; bytesPerSecond: number }
  /** Connections are accepted, but nothing is transferred. */
  | { kind: 'silent' }
  /** Each connection is cut after this many response bytes. */
  | { kind: 'cutting'; answerBytes: number }
  | { kind: 'resetting' }

export const sound = { kind: 'sound' } as const

type Pair = { isForgotten: boolean; reset: () => void }

export const openPassage = async (target: () => NetConnectOpts) => {
  const pairs = new Set<Pair>()
  let network: Network = sound
  let changed = Promise.withResolvers<void>()

  /** Waits as the network does, and returns the part of a chunk that passes. */
  const admit = async (pair: Pair, chunk: Buffer, isAnswer: boolean, answered: number): Promise<Buffer> => {
    while (network.kind === 'silent' || pair.isForgotten) await changed.promise
    if (network.kind === 'slow') await pause(network.delayMs + (chunk.length / network.bytesPerSecond) * 1_000)
    if (network.kind !== 'cutting' || !isAnswer) return chunk
    return chunk.subarray(0, Math.max(0, network.answerBytes - answered))
  }

  const pass = async (from: Socket, to: Socket, isAnswer: boolean, pair: Pair) => {
    let answered = 0
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        const admitted = await admit(pair, chunk, isAnswer, answered)
        answered += chunk.length
        if (admitted.length > 0) await new Promise<void>((resolve) => to.write(admitted, () => resolve()))
        if (admitted.length < chunk.length) return pair.reset()
      }
      to.end()
    } catch {
      // One side was reset, so the other is reset, too.
      pair.reset()
    }
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (network.kind === 'resetting') return void client.resetAndDestroy()
    const upstream = connect({ ...target(), allowHalfOpen: true, noDelay: true })
    const pair: Pair = {
      isForgotten: false,
      reset: () => {
        pairs.delete(pair)
        client.resetAndDestroy()
        // A Unix socket cannot be reset.
        upstream.destroy()
      },
    }
    pairs.add(pair)
    for (const socket of [client, upstream]) {
      socket.on('error', pair.reset)
      socket.once('close', () => pairs.delete(pair))
    }
    pass(client, upstream, false, pair)
    pass(upstream, client, true, pair)
  })
  const { port } = await listen(server)

  return {
    port,
    /** Changes the network until the next call. Data that was withheld then passes. */
    become: (next: Network) => {
      network = next
      if (next.kind === 'resetting') for (const pair of pairs) pair.reset()
      changed.resolve()
      changed = Promise.withResolvers()
    },
    /** Stops traffic on existing connections without closing them. */
    forget: () => {
      for (const pair of pairs) pair.isForgotten = true
    },
    /** Resets existing connections. */
    reset: () => {
      for (const pair of pairs) pair.reset()
    },
  }
}

export type Passage = Awaited<ReturnType<typeof openPassage>>
