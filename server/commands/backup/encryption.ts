// Encrypts backups with age, so that the age program can also decrypt each of their files.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'

export const encryptedEnding = '.age'
/**
 * This file contains the key of the backup, encrypted with a passphrase. The slow key derivation then runs only once
 * instead of for each file.
 */
const identityName = `identity${encryptedEnding}`

/** Creates a new stream for each file. */
export type Cipher = () => Duplex

type Stream = ReadableStream<Uint8Array>

/** Wraps a function from one web stream to another as a Duplex for a pipeline. */
const duplexOf = (transform: (source: Stream) => Promise<Stream>): Duplex => {
  const input = new TransformStream<Uint8Array, Uint8Array>()
  const output = new TransformStream<Uint8Array, Uint8Array>()
  transform(input.readable as Stream)
    .then((result) => result.pipeTo(output.writable))
    .catch((error: unknown) => output.writable.abort(error).catch(() => undefined))
  return Duplex.fromWeb({ readable: output.readable as Stream, writable: input.writable })
}

const readSecretFile = async (path: string): Promise<string> => {
  const text = (await readFile(path, 'utf8')).trim()
  if (text === '') throw new Error(`${path} is empty.`)
  return text
}

type Recipients = { encryptTo: readonly string[]; passphraseFile: string | undefined }

/** Returns undefined without encryption. With a passphrase, writes the encrypted key of the backup to the folder. */
export const openEncryption = async (
  folder: string,
  { encryptTo, passphraseFile }: Recipients,
): Promise<Cipher | undefined> => {
  if (encryptTo.length === 0 && passphraseFile === undefined) return undefined
  const encrypter = new Encrypter()
  for (const recipient of encryptTo) {
    try {
      encrypter.addRecipient(recipient)
    } catch {
      throw new Error(`${JSON.stringify(recipient)} is not an age recipient, such as age1….`)
    }
  }
  if (passphraseFile !== undefined) {
    const identity = await generateX25519Identity()
    encrypter.addRecipient(await identityToRecipient(identity))
    const byPassphrase = new Encrypter()
    byPassphrase.setPassphrase(await readSecretFile(passphraseFile))
    await writeFile(join(folder, identityName), await byPassphrase.encrypt(identity), { mode: 0o600, flush: true })
  }
  return () => duplexOf((source) => encrypter.encrypt(source as never) as Promise<unknown> as Promise<Stream>)
}

type Keys = { identityFile: string | undefined; passphraseFile: string | undefined }

const readIdentities = async (folder: string, { identityFile, passphraseFile }: Keys): Promise<string[]> => {
  if (identityFile !== undefined) {
    const lines = (await readSecretFile(identityFile)).split('\n').map((line) => line.trim())
    return lines.filter((line) => line !== '' && !line.startsWith('#'))
  }
  if (passphraseFile === undefined) {
    throw new Error(
      'The backup is encrypted. Pass the file with its key (--identity-file) or its passphrase (--passphrase-file).',
    )
  }
  const sealed = await readFile(join(folder, identityName)).catch(() => {
    throw new Error('The backup was not encrypted with a passphrase. Pass the file with its key (--identity-file).')
  })
  const decrypter = new Decrypter()
  decrypter.addPassphrase(await readSecretFile(passphraseFile))
  try {
    return [await decrypter.decrypt(sealed, 'text')]
  } catch {
    throw new Error(`The passphrase in ${passphraseFile} does not decrypt this backup.`)
  }
}

export const openDecryption = async (folder: string, keys: Keys): Promise<Cipher> => {
  const decrypter = new Decrypter()
  for (const identity of await readIdentities(folder, keys)) {
    try {
      decrypter.addIdentity(identity)
    } catch {
      throw new Error(`${keys.identityFile} contains no age identities (AGE-SECRET-KEY-1…).`)
    }
  }
  return () => duplexOf((source) => decrypter.decrypt(source as never) as Promise<unknown> as Promise<Stream>)
}
