// Loaded into the measured server before its own code: reports the longest block of its event loop since the last call.

import { createServer } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

const port = Number(process.env.EVENT_LOOP_MONITOR_PORT)
if (isMainThread && port > 0) {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  createServer((_request, response) => {
    const { max, count } = delays
    delays.reset()
    response.end(JSON.stringify({ ms: count === 0 ? 0 : max / 1e6 }))
  })
    .listen(port, '127.0.0.1')
    .unref()
}
