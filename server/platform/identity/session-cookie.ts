import { createHmac, timingSafeEqual } from 'node:crypto'

export type SessionCookie = {
  /** The prefix that the sign-in library puts before its cookies' names. */
  prefix: string
  /** What the library signs its cookies with. */
  secret: string
  /** Whether browsers send it over https alone. */
  secure: boolean
  /** The token of the session that a Cookie header names, if the cookie was signed here. */
  read: (header: string | undefined) => string | undefined
}

const namedValue = (header: string, name: string): string | undefined => {
  for (const part of header.split(';')) {
    const equals = part.indexOf('=')
    if (part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim()
  }
  return undefined
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * Reads the library's cookie without the library, which is loaded only when someone signs in: `token.signature`,
 * the signature an HMAC-SHA-256 in base64. A cookie that was not made here never reaches the database.
 */
export const openSessionCookie = ({ key, secure }: { key: Buffer; secure: boolean }): SessionCookie => {
  const prefix = 'earshot'
  const secret = key.toString('base64url')
  const name = `${secure ? '__Secure-' : ''}${prefix}.session_token`
  return {
    ...{ prefix, secret, secure },
    read: (header) => {
      if (header === undefined || !header.includes(name)) return undefined
      const value = decoded(namedValue(header, name) ?? '')
      const dot = value?.lastIndexOf('.') ?? -1
      if (value === undefined || dot < 1) return undefined
      const token = value.slice(0, dot)
      const given = Buffer.from(value.slice(dot + 1))
      const expected = Buffer.from(createHmac('sha256', secret).update(token).digest('base64'))
      return given.length === expected.length && timingSafeEqual(given, expected) ? token : undefined
    },
  }
}
