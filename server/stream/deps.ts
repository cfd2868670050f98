import type { Deps } from '../platform/deps.ts'
import type { Streams } from './hub.ts'

export type StreamDeps = Deps & { streams: Streams }
