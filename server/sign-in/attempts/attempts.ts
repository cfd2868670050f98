// Limits password attempts, regardless of their IP addresses.

import { createHmac, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import { listJoinedAllOrgs } from '../queries.ts'
import { findUserIdByEmail, forgetAttempts, takeAttempt } from './queries.ts'

const cookieName = 'device'
/** How long a device stays known after its last sign-in, so that a lost or sold device becomes unknown. */
const deviceSeconds = 90 * 24 * 60 * 60

export type SignInAttempt = {
  /** Records that the password was wrong or that the address is unknown. */
  fail: (requestId: string) => void
  /** Resets failures. Returns the cookie that identifies this device from now on. */
  succeed: () => Promise<string>
}

type Request = Pick<FastifyRequest, 'headers'>

export type Attempts = {
  /**
   * Counts an attempt for an address. Rejects if there were too many attempts. A device that has signed in to the
   * account before has its own count, so that strangers can't lock out the account's owner.
   */
  begin: (request: Request, email: string) => Promise<SignInAttempt>
  /** Resets the failures of a person who signed in without a password, through the issuer or a password link. */
  succeed: (request: Request, email: string) => Promise<string>
}

type AttemptsDeps = Pick<Deps, 'db' | 'clock' | 'secrets' | 'sessionCookie' | 'identity' | 'metrics'>

export const openAttempts = ({ db, clock, secrets, sessionCookie, identity, metrics }: AttemptsDeps): Attempts => {
  const key = secrets.derive('sign-in attempts')
  const hash = (kind: string, text: string) => createHmac('sha256', key).update(`${kind}/${text}`).digest('base64')
  const failures = new Counter({
    name: 'earshot_sign_in_failures_total',
    help: 'Rejected passwords by reason: wrong password, unknown address, or too many attempts for one account.',
    labelNames: ['reason'],
    registers: [metrics.registry],
  })

  /** Returns the device in a cookie, if it has signed in to this account in the last 90 days. */
  const readDevice = (header: string | undefined, account: string): string | undefined => {
    const sealed = sessionCookie.readOther(header, cookieName)
    if (!sealed) return undefined
    try {
      const [device, until] = secrets.open(sealed, `device/${account}`).split(' ')
      return Number(until) > clock.now().getTime() ? device : undefined
    } catch {
      return undefined
    }
  }

  const writeDevice = (account: string, device: string): string => {
    const until = clock.now().getTime() + deviceSeconds * 1_000
    return sessionCookie.writeOther(cookieName, secrets.seal(`${device} ${until}`, `device/${account}`), deviceSeconds)
  }

  const take = async (keyHash: string): Promise<void> => {
    const retryAfterSeconds = await takeAttempt(db, keyHash)
    if (retryAfterSeconds === 0) return
    failures.inc({ reason: 'throttled' })
    throw new ApiError(
      'rateLimited',
      `Too many failed attempts for this account. Try again in ${retryAfterSeconds} seconds.`,
      { retryAfterSeconds },
    )
  }

  /**
   * Records a failed attempt in the audit logs of the person's organizations. If the address is unknown, only counts
   * it.
   */
  const recordFailure = async (email: string, requestId: string): Promise<void> => {
    const userId = await findUserIdByEmail(db, email)
    failures.inc({ reason: userId === undefined ? 'unknown_address' : 'wrong_password' })
    if (userId === undefined) return
    for (const { id: org } of await listJoinedAllOrgs(db, userId)) {
      const actor = { kind: 'user', org, keyId: null, userId, requestId } as const
      await recordAudit(db, actor, 'session.refused', { type: 'user', id: userId })
    }
  }

  return {
    begin: async ({ headers }, email) => {
      const account = hash('account', email.toLowerCase())
      const known = readDevice(headers.cookie, account)
      const counted = known === undefined ? account : hash('device', known)
      await take(counted)
      return {
        // The response does not wait for this, so that it takes equally long for an unknown address.
        fail: (requestId) => identity.beside(recordFailure(email, requestId), 'recording a failed sign-in failed'),
        succeed: async () => {
          await forgetAttempts(db, [counted])
          return writeDevice(account, known ?? randomBytes(18).toString('base64url'))
        },
      }
    },

    succeed: async ({ headers }, email) => {
      const account = hash('account', email.toLowerCase())
      await forgetAttempts(db, [account])
      return writeDevice(account, readDevice(headers.cookie, account) ?? randomBytes(18).toString('base64url'))
    },
  }
}
