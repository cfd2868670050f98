// Generates one export in its own process. Loads as little as possible, because writing only starts after everything is
// loaded. This thread reads, and another one writes.

import { rowsPerSlice } from '../formats/formats.ts'
import { connect } from './connect.ts'
import { failureOf, type GeneratorMessage, type GeneratorTask } from './messages.ts'
import type { Generated } from './order.ts'
import { openReading } from './read.ts'
import { openWriting } from './writing.ts'

/** Ends this process. Nobody needs the file if the parent process has exited. */
const end = () => process.exit(1)

const reply = (message: GeneratorMessage): Promise<void> =>
  new Promise((resolve) => process.send?.(message, (error: Error | null) => (error ? end() : resolve())))

const generate = async ({ plan, connections, storage, limits }: GeneratorTask): Promise<Generated> => {
  const note = (text: string) => void reply({ type: 'note', text })
  let rows = 0
  const writing = openWriting({ format: plan.format, key: plan.key, storage }, (count) => {
    rows += count
    void reply({ type: 'progress', rows })
  })
  try {
    const snapshot = await connect(connections, { note })
    try {
      const { layout, slices } = await openReading(snapshot, plan)
      writing.begin(layout)
      const size = { rowsPerSlice: rowsPerSlice(plan), ...limits }
      for await (const slice of slices(size)) await writing.write(slice)
    } finally {
      await snapshot.close()
    }
    const stored = await writing.end()
    return { rows, ...stored }
  } catch (error) {
    await writing.abandon()
    throw error
  }
}

process.on('disconnect', end)
process.once('message', async (task: GeneratorTask) => {
  const answer = await generate(task).then(
    (generated): GeneratorMessage => ({ type: 'generated', generated }),
    (error: unknown): GeneratorMessage => ({ type: 'failed', failure: failureOf(error) }),
  )
  await reply(answer)
  process.exit(0)
})
