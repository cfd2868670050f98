import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns a payload that a provider sends, with invented values. Signatures are computed over its exact bytes. */

export const sampleBytes = (name: string): Buffer => readFileSync(join(import.meta.dirname, name))

// biome-ignore lint/suspicious/noExplicitAny: each test knows the type of its sample.
export const sample = (name: string): any => JSON.parse(sampleBytes(name).toString('utf8'))
