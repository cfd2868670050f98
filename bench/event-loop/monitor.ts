// The measured server loads this file before its own code. It reports the longest block of the event loop since the
// last call, in wall time and in CPU time of the main thread. The latter does not depend on other load.

import { createServer } from 'node:http'
import { isMainThread } from 'node:worker_threads'

const port = Number(process.env.EVENT_LOOP_MONITOR_PORT)
if (isMainThread && port > 0) {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let [wallBefore, cpuBefore] = [performance.now(), cpuMs()]
  let longest = { wallMs: 0, cpuMs: 0 }
  const measure = () => {
    const [wall, cpu] = [performance.now(), cpuMs()]
    longest = {
      wallMs: Math.max(longest.wallMs, wall - wallBefore),
      cpuMs: Math.max(longest.cpuMs, cpu - cpuBefore),
    }
    wallBefore = wall
    cpuBefore = cpu
  }
  // Both timers run in each turn of the loop, so a measurement covers at most one turn.
  setInterval(measure, 1).unref()
  createServer((_request, response) => {
    measure()
    response.end(JSON.stringify(longest))
    longest = { wallMs: 0, cpuMs: 0 }
  })
    .listen(port, '127.0.0.1')
    .unref()
}
