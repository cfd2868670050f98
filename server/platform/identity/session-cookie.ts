import { createHmac, timingSafeEqual } from 'node:crypto'

/** People have to sign in again after this time, even if they were active. */
export const sessionSeconds = 14 * 24 * 60 * 60

export type SessionCookie = {
  /** The prefix of the sign-in library's cookie names. */
  prefix: string
  /** The key that signs the library's cookies. */
  secret: string
  /** Whether browsers send the cookie only over https. */
  secure: boolean
  /** Returns the session token in a Cookie header, if this service signed the cookie. */
  read: (header: string | undefined) => string | undefined
  /** Returns the Set-Cookie header for a new session, as the library would write it. */
  write: (token: string) => string
  /** Returns the value of another of this service's cookies without checking it. */
  readOther: (header: string | undefined, name: string) => string | undefined
  /**
   * Returns the Set-Cookie header for another of this service's cookies, with the same protection. An empty value
   * removes the cookie.
   */
  writeOther: (name: string, value: string, lifetimeSeconds: number) => string
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
 * Reads and writes the sign-in library's cookie without loading the library, which is only needed when someone signs
 * in. The cookie is `token.signature`, and the signature is an HMAC-SHA-256 in base64, so a forged cookie never reaches
 * the database. Over https, its name starts with `__Host-`, so that no other host in the domain and no plain HTTP
 * response can set it.
 */
export const openSessionCookie = ({ key, secure }: { key: Buffer; secure: boolean }): SessionCookie => {
  const prefix = secure ? '__Host-earshot' : 'earshot'
  const secret = key.toString('base64url')
  const sessionName = 'session_token'
  const sign = (token: string) => createHmac('sha256', secret).update(token).digest('base64')
  const readOther = (header: string | undefined, name: string) =>
    header?.includes(`${prefix}.${name}`) ? decoded(namedValue(header, `${prefix}.${name}`) ?? '') : undefined
  const writeOther = (name: string, value: string, lifetimeSeconds: number) =>
    `${prefix}.${name}=${encodeURIComponent(value)}; Max-Age=${lifetimeSeconds}; Path=/; HttpOnly; ` +
    `${secure ? 'Secure; ' : ''}SameSite=Lax`
  return {
    prefix,
    secret,
    secure,
    readOther,
    writeOther,
    write: (token) => writeOther(sessionName, `${token}.${sign(token)}`, sessionSeconds),
    read: (header) => {
      const value = readOther(header, sessionName)
      const dot = value?.lastIndexOf('.') ?? -1
      if (value === undefined || dot < 1) return undefined
      const token = value.slice(0, dot)
      const given = Buffer.from(value.slice(dot + 1))
      const expected = Buffer.from(sign(token))
      return given.length === expected.length && timingSafeEqual(given, expected) ? token : undefined
    },
  }
}
