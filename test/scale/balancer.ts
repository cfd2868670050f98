import { Agent, createServer, type RequestListener, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createProxyServer } from 'httpxy'
import { listen } from '../outside.ts'

const checkEveryMs = 100

/**
 * Distributes requests round robin among the processes that respond to /readyz with 200, over keep-alive connections.
 * It only does what docs/scaling.md requires of a load balancer, and never sends a request twice.
 */
export const openBalancer = async (whenOver: (close: () => Promise<void>) => void) => {
  const isReady = new Map<string, boolean>()
  const agent = new Agent({ keepAlive: true })
  const proxy = createProxyServer({ agent, xfwd: true })
  let turn = 0

  const refuse = (response: ServerResponse, status: number, why: string) => {
    if (response.headersSent) response.destroy()
    else response.writeHead(status, { 'content-type': 'text/plain' }).end(`The balancer: ${why}`)
  }
  proxy.on('error', (error, _request, response) => {
    if (response && 'writeHead' in response) refuse(response as ServerResponse, 502, error.message)
  })
  // The headers are sent before the body, because the service rejects a Content-Length that is too large without
  // reading the body.
  proxy.on('proxyReq', (request) => request.flushHeaders())

  const hand: RequestListener = async (request, response) => {
    const ready = [...isReady].flatMap(([url, is]) => (is ? [url] : []))
    const target = ready[turn++ % ready.length]
    if (target === undefined) return refuse(response, 503, 'no process is ready')
    await proxy.web(request, response, { target })
  }

  const check = async (url: string): Promise<void> => {
    const answers = await fetch(`${url}/readyz`).then(
      async (response) => {
        await response.text()
        return response.status === 200
      },
      () => false,
    )
    if (isReady.has(url)) isReady.set(url, answers)
  }

  const closing = new AbortController()
  const checks: Promise<void>[] = []
  whenOver(async () => {
    closing.abort()
    await Promise.all(checks)
    agent.destroy()
  })
  const { url: origin } = await listen(createServer(hand), whenOver)

  const watch = async (url: string): Promise<void> => {
    while (isReady.has(url) && !closing.signal.aborted) {
      await check(url)
      await pause(checkEveryMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  return {
    origin,
    /** Returns whether each process accepts requests. */
    targets: () => Object.fromEntries(isReady),
    /** Adds a process. Resolves after its first readiness check. */
    add: async (url: string): Promise<void> => {
      isReady.set(url, false)
      await check(url)
      checks.push(watch(url))
    },
    remove: (url: string): void => {
      isReady.delete(url)
    },
  }
}
