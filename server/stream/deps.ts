import type { Deps } from '../platform/deps.ts'
import type { Streams } from './send-events.ts'

export type StreamDeps = Deps & { streams: Streams }
