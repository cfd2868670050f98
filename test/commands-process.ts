// Runs one command after another in the same process. Each goes through main.ts, as in bin/earshot.

export type CommandInput = { args: string[]; env: NodeJS.ProcessEnv }
export type CommandOutput = { code: number | null; stdout: string; stderr: string }

let stdout = ''
let stderr = ''
process.stdout.write = (text) => {
  stdout += text
  return true
}
process.stderr.write = (text) => {
  stderr += text
  return true
}
// main.ts adds listeners each time it is loaded.
process.stdout.setMaxListeners(0)
process.stderr.setMaxListeners(0)

let count = 0
process.on('message', async ({ args, env }: CommandInput) => {
  stdout = ''
  stderr = ''
  process.exitCode = 0
  process.argv.splice(2, Infinity, ...args)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  // The URL differs each time, so that the module runs again.
  await import(`../server/main.ts?${++count}`)
  process.send?.({ code: process.exitCode, stdout, stderr })
})
process.on('disconnect', () => process.exit())
