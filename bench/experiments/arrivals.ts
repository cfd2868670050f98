// Measures how far an experiment lags behind what the service has acknowledged, while conversations and results keep
// arriving.

import { setTimeout as sleep } from 'node:timers/promises'
import { judge, print } from '../report.ts'
import type { ResponseBody, Stored } from './stored.ts'

const batch = 50
const everyMs = 500
const lastsMs = 60_000
const lookEveryMs = 200
/** The number is even, so that each caller stays in one arm. */
const callers = 500
const allowedSeconds = 5

/** Tracks the acknowledged counts over time, and the age of the oldest one that is not shown yet. */
const openFeed = () => {
  const acknowledged: { at: number; total: number }[] = []
  let total = 0
  return {
    add: (count: number) => {
      total += count
      acknowledged.push({ at: performance.now(), total })
    },
    total: () => total,
    secondsBehind: (shown: number, at: number): number => {
      const first = acknowledged.find((one) => one.total > shown)
      return first && first.at < at ? (at - first.at) / 1_000 : 0
    },
  }
}

const totalsOf = ({ outcomes, health }: ResponseBody, told: string[]) => {
  const ofTold = outcomes.filter(({ metricId }: ResponseBody) => told.includes(metricId))
  return {
    conversations: health.conversations.a + health.conversations.b,
    results: ofTold.reduce((sum: number, { arms }: ResponseBody) => sum + arms.a.observed + arms.b.observed, 0),
  }
}

export const measureArrivals = async (stored: Stored): Promise<void> => {
  const { arms, toldIds, post } = stored
  const worker = await stored.startService('http,worker')
  try {
    const before = await stored.read()
    const startedAt = performance.now()
    const stopAt = startedAt + lastsMs
    const feeds = { conversations: openFeed(), results: openFeed() }
    let number = 0
    const send = async () => {
      const first = number
      number += batch
      const names = Array.from({ length: batch }, (_, at) => `arrived-${first + at}`)
      const now = new Date().toISOString()
      const conversations = names.map((externalId, at) => ({
        externalId,
        channel: 'call',
        direction: 'inbound',
        startedAt: now,
        durationSeconds: 20 + at * 11,
        agentId: arms.agentId,
        agentVersionId: at % 2 === 0 ? arms.armAVersionId : arms.armBVersionId,
        customerId: `caller-${(first + at) % callers}`,
      }))
      await post('/v1/conversations/batch', { conversations })
      feeds.conversations.add(batch)
      const results = names.flatMap((conversationExternalId, at) =>
        toldIds.map((monitorId, which) => ({
          monitorId,
          conversationExternalId,
          reasoning: 'Said so.',
          result: (at + which) % 10 === 0 ? 'affected' : 'not_affected',
        })),
      )
      await post('/v1/monitor-results', { results })
      feeds.results.add(results.length)
    }
    const looks: { conversations: number; results: number; countedAt: number }[] = []
    const analyze = async () => {
      const [at, now] = [performance.now(), Date.now()]
      const shown = await stored.read()
      const totals = totalsOf(shown, toldIds)
      const was = totalsOf(before, toldIds)
      looks.push({
        conversations: feeds.conversations.secondsBehind(totals.conversations - was.conversations, at),
        results: feeds.results.secondsBehind(totals.results - was.results, at),
        countedAt: (now - Date.parse(shown.countedAt)) / 1_000,
      })
    }
    /** Acts at a steady rate, whether or not the previous action has finished. */
    const steadily = async (every: number, act: () => Promise<void>) => {
      const under: Promise<void>[] = []
      for (let due = performance.now(); due < stopAt; due += every) {
        await sleep(Math.max(0, due - performance.now()))
        under.push(act())
      }
      await Promise.all(under)
    }
    await Promise.all([steadily(everyMs, send), steadily(lookEveryMs, analyze)])

    const total = feeds.conversations.total()
    const rate = total / ((performance.now() - startedAt) / 1_000)
    print(`${rate.toFixed(0)} conversations arrived in a second, with ${feeds.results.total() / total} results each`)
    // The first reads happen before anything is counted.
    const settled = looks.slice(Math.ceil(2_000 / lookEveryMs))
    const largest = (of: (one: (typeof looks)[number]) => number) => Math.max(...settled.map(of))
    print(`countedAt was at most ${largest(({ countedAt }) => countedAt).toFixed(2)} s ago, in ${looks.length} looks`)
    for (const name of ['conversations', 'results'] as const) {
      const most = Math.max(...looks.map((one) => one[name]))
      judge(`${name} that are not shown were acknowledged`, most, { atMost: allowedSeconds }, ' s ago')
    }
  } finally {
    await worker.stop()
  }
}
