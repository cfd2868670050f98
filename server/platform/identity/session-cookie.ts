import { createHmac, timingSafeEqual } from 'node:crypto'

/** People sign in again after this time, whatever they did in between. */
export const sessionSeconds = 14 * 24 * 60 * 60

export type SessionCookie = {
  /** The prefix of the sign-in library's cookie names. */
  prefix: string
  /** The key that signs the library's cookies. */
  secret: string
  /** Whether browsers only send it over https. */
  secure: boolean
  /** Returns the token of the session in a Cookie header, if the cookie was signed here. */
  read: (header: string | undefined) => string | undefined
  /** Returns the Set-Cookie header of a new session, as the library would write it. */
  write: (token: string) => string
  /** Returns the value of another of our cookies, unchecked. */
  readOther: (header: string | undefined, name: string) => string | undefined
  /** Returns the Set-Cookie header of another of our cookies, with the same protection. No value removes it. */
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
 * Reads and writes the library's cookie without the library, which is only loaded when someone signs in:
 * `token.signature`, the signature an HMAC-SHA-256 in base64. A cookie from elsewhere never reaches the database. Over
 * https, its name starts with `__Host-`, so that no other host of the domain and no plain HTTP can set it.
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
