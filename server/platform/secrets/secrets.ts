import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export type Secrets = {
  /**
   * Encrypts a string. `context` identifies the secret, such as `organizationId/webhook/id`, and a copy in another
   * context can't be decrypted.
   */
  seal: (plain: string, context: string) => string
  open: (sealed: string, context: string) => string
  /** Returns a 32-byte key for one purpose. The keys for different purposes are independent. */
  derive: (purpose: string) => Buffer
}

const version = 'v1'
const nonceBytes = 12
const tagBytes = 16

const unreadable = () =>
  new Error('A stored secret cannot be decrypted: it was encrypted with another EARSHOT_SECRET_KEY, or it was changed.')

export const openSecrets = (secretKey: string): Secrets => {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secretKey, 'earshot', purpose, 32))
  const sealingKey = derive('seal')

  const seal = (plain: string, context: string) => {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', sealingKey, nonce).setAAD(Buffer.from(`${version}:${context}`))
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `${version}.${sealed.toString('base64url')}`
  }

  const open = (sealed: string, context: string) => {
    const text = sealed.startsWith(`${version}.`) ? sealed.slice(version.length + 1) : ''
    const bytes = Buffer.from(text, 'base64url')
    // Decoding ignores invalid characters and unused last bits, but each secret must only have one valid text.
    if (bytes.length < nonceBytes + tagBytes || bytes.toString('base64url') !== text) throw unreadable()
    const decipher = createDecipheriv('aes-256-gcm', sealingKey, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(Buffer.from(`${version}:${context}`)).setAuthTag(bytes.subarray(-tagBytes))
    try {
      const plain = decipher.update(bytes.subarray(nonceBytes, -tagBytes))
      return Buffer.concat([plain, decipher.final()]).toString('utf8')
    } catch {
      throw unreadable()
    }
  }

  return { seal, open, derive }
}
