import type { Called, RunCommand } from './call.ts'
import { connect } from './connect.ts'
import { type DoctorCheck, openReport } from './doctor/report.ts'

/** Returns the checks of a remote service that an organization's key allows. */
const checksFrom = (called: Called): DoctorCheck[] => {
  const { earshot } = connect(called)
  const once = { retries: 0, timeoutMs: 10_000 }
  return [
    {
      name: 'answer',
      run: async () => {
        const beganAt = performance.now()
        await earshot.request('GET', '/healthz', {}, once)
        return `in ${Math.round(performance.now() - beganAt)} ms`
      },
    },
    {
      name: 'ready',
      run: async () => {
        await earshot.request('GET', '/readyz', {}, once)
        return 'database, migrations, and storage'
      },
    },
    {
      name: 'key',
      run: async () => {
        const { organization, role, entitlements } = await earshot.me.get(once)
        const lacking = Object.entries(entitlements).flatMap(([name, has]) => (has ? [] : [name]))
        return `${role} of ${organization.name}${lacking.length > 0 ? `, without ${lacking.join(', ')}` : ''}`
      },
    },
  ]
}

export const run: RunCommand = async (called) => {
  const report = openReport(called.flag('json'))
  if (called.text('url') === undefined) {
    // This import loads the whole service, which a remote check does not need.
    const { checkHere } = await import('./doctor/here.ts')
    await checkHere(report)
  } else await report.check(checksFrom(called))
  return report.end()
}
