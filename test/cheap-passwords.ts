// Makes password hashing fast. It is slow on purpose, and takes a tenth of a second of CPU time. Services that tests
// start as processes still hash at full cost.

import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const { scrypt } = crypto
type Done = (error: Error | null, key: Buffer) => void

const cheap = (password: BinaryLike, salt: BinaryLike, length: number, options: ScryptOptions, done: Done) =>
  scrypt(password, salt, length, { ...options, N: 2 }, done)

Object.assign(crypto, { scrypt: cheap })
syncBuiltinESMExports()
