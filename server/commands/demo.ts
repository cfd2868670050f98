import { makeBuckets } from '../demo/buckets.ts'
import { makeExperiment } from '../demo/experiment.ts'
import { makeFindings } from '../demo/findings.ts'
import { loadDemo } from '../demo/load.ts'
import { makeMonitors } from '../demo/monitors.ts'
import type { ServiceDeps } from '../deps.ts'
import { provisionOrganization } from '../organizations/provision.ts'
import { findOrganizationBySlug, getOrganization } from '../organizations/queries.ts'
import { placeholderAddress } from '../sign-in/address/placeholder.ts'
import { type RunCommand, WronglyCalled } from './call.ts'
import { handOver } from './credentials.ts'
import { makeOwnerKey } from './owner-key.ts'
import { serve } from './serve.ts'

const slug = 'demo'
const defaultCalls = '3000'
const mostCalls = 10_000_000

type Amount = { calls: number; seed: number }
type Filling = Amount & { printCredentials: boolean }

const readAmount = ({ calls, seed }: { calls: string; seed: string }): Amount => {
  const whole = (text: string, least: number, most: number) =>
    /^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most
  if (!whole(calls, 1, mostCalls)) throw new WronglyCalled(`--calls must be a number from 1 to ${mostCalls}.`, true)
  if (!whole(seed, 0, 2 ** 31)) throw new WronglyCalled('--seed must be a number from 0 to 2147483648.', true)
  return { calls: Number(calls), seed: Number(seed) }
}

const print = (text: string) => process.stdout.write(text)

/** Returns the demo organization with a working key. A new organization also gets a sign-in link. */
const prepare = async (deps: ServiceDeps) => {
  const { db } = deps
  const present = await findOrganizationBySlug(db, slug)
  if (present) {
    const { key } = await makeOwnerKey(deps, present.org, 'Demo')
    return { org: present.org, key, signIn: `run bin/earshot link ${slug} to create a sign-in link` }
  }
  const owner = { email: placeholderAddress('demo'), name: 'Demo owner' }
  const made = await db.transaction().execute((trx) => provisionOrganization(deps, trx, { name: 'Demo', slug, owner }))
  return { org: made.org, key: made.apiKey.key, signIn: made.invitationUrl }
}

/**
 * Shows the progress: on a terminal, as a line that is updated in place, and otherwise as a new line for every tenth of
 * the calls.
 */
const progressOf = (calls: number) => {
  let printed = 0
  return (stored: number): void => {
    const tenth = Math.floor((stored * 10) / calls)
    const text = `  ${stored.toLocaleString('en')} of ${calls.toLocaleString('en')} conversations`
    if (process.stdout.isTTY) print(`\r${text}${stored === calls ? '\n' : ''}`)
    else if (tenth > printed) print(`${text}\n`)
    printed = tenth
  }
}

const fill = async (
  deps: ServiceDeps,
  signal: AbortSignal,
  { calls, seed, printCredentials }: Filling,
): Promise<void> => {
  const { org, key, signIn } = await prepare(deps)
  const { createdAt } = await getOrganization(deps.db, org)
  const { dataDir } = deps.config
  print(
    await handOver(
      { dataDir, printCredentials },
      `
Demo
  Sign in    ${signIn}
  Owner key  ${key}
  Try it     curl -H "Authorization: Bearer ${key}" "${deps.baseUrl()}/v1/conversations?limit=3"
`,
    ),
  )
  const startedAt = performance.now()
  await makeMonitors(deps.db, org)
  await makeBuckets(deps.db, org)
  await loadDemo(deps, org, { calls, seed, anchor: createdAt, signal, onProgress: progressOf(calls) })
  await makeFindings(deps.db, org, createdAt)
  await makeExperiment(deps, org, { anchor: createdAt, calls })
  const seconds = (performance.now() - startedAt) / 1_000
  print(`The demo is loaded (${seconds.toFixed(1)} s). Press Ctrl-C to stop; the data is kept.\n`)
}

export const run: RunCommand = async ({ text, flag }) => {
  const amount = readAmount({ calls: text('calls') ?? defaultCalls, seed: text('seed') ?? '1' })
  const printCredentials = flag('print-credentials')
  return serve({
    command: 'demo',
    printCredentials,
    meanwhile: (deps, signal) => fill(deps, signal, { ...amount, printCredentials }),
  })
}
