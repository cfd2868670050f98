export type Role = 'owner' | 'member' | 'viewer'

/** The session cookie of each person. */
export type People = Record<Role, { name: string; value: string }>

export const password = 'a password of the tests 4711'

/** Accepts an invitation and returns the session cookie. */
export const sessionOf = async (origin: string, token: string, name: string): Promise<People[Role]> => {
  const answer = await fetch(`${origin}/auth/invitation`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ token, name, password }),
  })
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0]
  if (!answer.ok || !cookie) throw new Error(`joining was answered ${answer.status}: ${await answer.text()}`)
  const at = cookie.indexOf('=')
  return { name: cookie.slice(0, at), value: decodeURIComponent(cookie.slice(at + 1)) }
}
