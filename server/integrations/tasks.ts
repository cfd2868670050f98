import { readLongTraces } from './otlp/read-traces.ts'
import { readLongPayload } from './read-payload.ts'

export const integrationTasks = [readLongPayload, readLongTraces]
