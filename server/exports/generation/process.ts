// The process that generates one export. It loads no more than that needs: until it has started, nothing is written.

import { openStore } from '../../platform/blobs/blobs.ts'
import { systemClock } from '../../platform/clock.ts'
import { loadFormat } from '../formats/formats.ts'
import type { Slice } from '../slice.ts'
import { connect } from './connect.ts'
import { failureOf, type Reply, type Task } from './messages.ts'
import type { Generated } from './order.ts'
import { openReading } from './read.ts'

/** When whoever asked is gone, nobody will learn of the file. */
const end = () => process.exit(1)

const reply = (message: Reply): Promise<void> =>
  new Promise((resolve) => process.send?.(message, (error: Error | null) => (error ? end() : resolve())))

/** Reads the next slice while the last one is written. */
const readAhead = async function* (slices: AsyncGenerator<Slice>): AsyncGenerator<Slice> {
  for (let next = slices.next(); ; ) {
    const { value, done } = await next
    if (done) return
    next = slices.next()
    // A failure is thrown where it is waited for; who writes may fail before.
    next.catch(() => {})
    yield value
  }
}

const generate = async ({ plan, connections, storage, limits }: Task): Promise<Generated> => {
  const note = (text: string) => void reply({ type: 'note', text })
  const [format, store, snapshot] = await Promise.all([
    loadFormat(plan.format),
    openStore(storage, systemClock),
    connect(connections, { note }),
  ])
  try {
    const { layout, slices } = await openReading(snapshot, plan)
    const rowsPerSlice = format.rowsPerSlice(plan)
    let rows = 0
    const counted = async function* () {
      for await (const slice of readAhead(slices({ rowsPerSlice, ...limits }))) {
        yield slice
        rows += slice.rows
        void reply({ type: 'progress', rows })
      }
    }
    const { contentType } = format
    const stored = await store.put(plan.key, format.write(layout, counted()), { contentType })
    return { rows, ...stored }
  } finally {
    await snapshot.close()
  }
}

process.on('disconnect', end)
process.once('message', async (task: Task) => {
  const answer = await generate(task).then(
    (generated): Reply => ({ type: 'generated', generated }),
    (error: unknown): Reply => ({ type: 'failed', failure: failureOf(error) }),
  )
  await reply(answer)
  process.exit(0)
})
