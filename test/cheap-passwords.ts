// A password is hashed at a cost that guessers are to pay: a tenth of a second of computing, each time. In the process of
// a test it costs next to nothing; the services that tests start as processes pay in full.

import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const { scrypt } = crypto
type Done = (error: Error | null, key: Buffer) => void

const cheap = (password: BinaryLike, salt: BinaryLike, length: number, options: ScryptOptions, done: Done) =>
  scrypt(password, salt, length, { ...options, N: 2 }, done)

Object.assign(crypto, { scrypt: cheap })
syncBuiltinESMExports()
