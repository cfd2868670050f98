import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What providers send, with invented values. The bytes matter: signatures are computed over them. */

export const sampleBytes = (name: string): Buffer => readFileSync(join(import.meta.dirname, name))

// biome-ignore lint/suspicious/noExplicitAny: a sample is JSON that its test knows.
export const sample = (name: string): any => JSON.parse(sampleBytes(name).toString('utf8'))
