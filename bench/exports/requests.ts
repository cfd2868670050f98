// A separate process that requests one URL at a steady rate, and reports how long each response took from when the
// request was due. The parent process sends a message with the URL to start it, and another one to stop it.

import { Agent, get } from 'node:http'

const everyMs = 5

const latencies: number[] = []
const agent = new Agent({ keepAlive: true, maxSockets: 50 })

process.once('message', ({ url, key }: { url: string; key: string }) => {
  const startedAt = performance.now()
  let asked = 0
  const ask = () => {
    while (startedAt + asked * everyMs <= performance.now()) {
      const dueAt = startedAt + asked * everyMs
      asked++
      get(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
        response.resume().on('end', () => latencies.push(performance.now() - dueAt))
        if (response.statusCode !== 200) throw new Error(`It was answered ${response.statusCode}`)
      })
    }
    setTimeout(ask, Math.max(0, startedAt + asked * everyMs - performance.now()))
  }
  ask()
  process.once('message', () => process.send?.(latencies, () => process.exit(0)))
})
process.on('disconnect', () => process.exit(1))
