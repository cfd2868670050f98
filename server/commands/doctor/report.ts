import { plainLines, printJson } from '../columns.ts'

export type DoctorCheck = { name: string; run: () => Promise<string> }

type Finding = { name: string; ok: boolean; told: string }

/** Prints each check on its own line, and continues after a failure. */
export const openReport = (json: boolean) => {
  const findings: Finding[] = []
  const tell = (finding: Finding) => {
    findings.push(finding)
    const { name, ok, told } = finding
    if (!json) process.stdout.write(`${ok ? 'ok   ' : 'FAIL '} ${name.padEnd(14)} ${plainLines(told)}\n`)
  }
  return {
    check: async (checks: DoctorCheck[]): Promise<void> => {
      for (const { name, run } of checks) {
        try {
          tell({ name, ok: true, told: await run() })
        } catch (error) {
          tell({ name, ok: false, told: error instanceof Error ? error.message : String(error) })
        }
      }
    },
    end: (): number => {
      const ok = findings.every((finding) => finding.ok)
      if (json) printJson({ ok, checks: findings })
      return ok ? 0 : 1
    },
  }
}

export type Report = ReturnType<typeof openReport>
