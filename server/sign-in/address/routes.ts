import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { hourMs } from '../../platform/durations.ts'
import { ApiError, invalid } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { checkOrigin } from '../../platform/http/origin.ts'
import { limitByAddress } from '../../platform/http/rate-limit.ts'
import { answers, Closed, Email, NoQuery } from '../../platform/http/schemas.ts'
import { hashKey } from '../../platform/identity/keys.ts'
import { queueMail } from '../../platform/mail/mail.ts'
import { findUserIdByEmail } from '../attempts/queries.ts'
import type { SignInDeps } from '../deps.ts'
import { loadLibrary } from '../load-library.ts'
import { findPasswordHash, listJoinedAllOrgs } from '../queries.ts'
import { Password } from '../schema.ts'
import { requireSession } from '../session.ts'
import { makeAddressLink } from './link.ts'
import { isPlaceholder } from './placeholder.ts'
import { deleteOpenLinksAllOrgs, getUserEmail, takeAddressChange, updateUserEmail } from './queries.ts'

const tags = ['Sign-in']
/**
 * The response takes at least this long, which exceeds the time to enqueue an email, so that its timing reveals
 * nothing.
 */
const leastMs = 250

const AddressChange = Closed({
  email: { ...Email, description: 'The new address.' },
  currentPassword: Password,
})

const AddressChangeState = Closed({
  email: { ...Email, description: 'The account’s current address.' },
  confirmationSent: Type.Boolean({
    description:
      'Always true: the change takes effect when the link in the email is opened. The link works for an hour.',
  }),
})

const Confirmation = Closed({
  token: Type.String({ minLength: 1, maxLength: 200, description: 'The part of the link after the #.' }),
})

const confirmationText = (url: string) => `Someone asked to use this email address for their Earshot account.

${url}

Open the link within an hour to confirm it. If this wasn't you, ignore this email.
`

const noticeText = (email: string) => `The email address of your Earshot account is now ${email}.

If this wasn't you, contact an admin of your organization or the operator of Earshot immediately.
`

/**
 * Returns the error for an address that can't be confirmed. It may belong to someone else. Their invitations would then
 * open this account.
 */
const cannotConfirm = () =>
  new ApiError(
    'conflict',
    'Earshot cannot send email to confirm a new address. Ask the operator for a link: bin/earshot link SLUG --email CURRENT --new-email NEW',
  )

/** Lets people change the address with which they sign in. */
export const changeAddress = (app: App, deps: SignInDeps): void => {
  const { db, clock, config, identity, attempts, secrets } = deps
  const countAttempt = limitByAddress(
    { perSecond: 0.2, burst: 20 },
    'Too many attempts from this IP address. Wait a moment.',
  )

  /** Changes the address. Notifies the old address and every organization of the person. */
  const change = async (trx: Db, userId: string, email: string, requestId: string): Promise<void> => {
    const former = await getUserEmail(trx, userId)
    await updateUserEmail(trx, userId, email)
    await deleteOpenLinksAllOrgs(trx, userId)
    const joined = await listJoinedAllOrgs(trx, userId)
    for (const { id: org } of joined) {
      const actor = { kind: 'user', org, keyId: null, userId, requestId } as const
      await recordAudit(trx, actor, 'user.changeEmail', { type: 'user', id: userId })
    }
    const [first] = joined
    if (!config.smtp || !first || isPlaceholder(former)) return
    const mail = { to: [former], subject: 'Your Earshot email address was changed', text: noticeText(email) }
    await queueMail(deps, trx, first.id, mail)
  }

  /**
   * Emails a link to the new address, unless another account has it. The person can't tell which, because the earlier
   * link ends in both cases, and the response takes the same time.
   */
  const askToConfirm = async (org: OrgId, userId: string, email: string): Promise<void> => {
    await db.transaction().execute(async (trx) => {
      const url = await makeAddressLink(deps, trx, { userId, email, lifetimeMs: hourMs })
      if ((await findUserIdByEmail(trx, email)) !== undefined) return
      const mail = { to: [email], subject: 'Confirm your email address for Earshot', text: confirmationText(url) }
      await queueMail(deps, trx, org, mail, { sealWith: secrets })
    })
  }

  const checkPassword = async (request: FastifyRequest, email: string, userId: string, given: string) => {
    const present = await findPasswordHash(db, userId)
    if (present === undefined) {
      throw new ApiError(
        'conflict',
        'Your account has no password. Ask the operator for a link that sets one, then change your address.',
      )
    }
    const attempt = await attempts.begin(request, email)
    const { verifyPassword } = await loadLibrary(deps)
    if (await verifyPassword(given, present)) return attempt.succeed()
    attempt.fail(request.id)
    throw invalid('currentPassword', 'is not your current password')
  }

  app.post(
    '/auth/address',
    {
      onRequest: async (request) => {
        countAttempt(request.ip)
        request.session = await requireSession(deps, request)
      },
      config: { access: 'public', unaudited: 'The confirmation of the new address is audited.' },
      schema: {
        tags,
        operationId: 'changeEmail',
        summary: 'Change your email address',
        description:
          'The change takes effect when you open the link sent to the new address. Returns 409 if no mail ' +
          'server is configured; the operator can create the link instead.',
        querystring: NoQuery,
        body: AddressChange,
        response: answers({ 200: AddressChangeState }, 400, 401, 403, 409),
      },
    },
    async (request, reply) => {
      const { session, body } = request
      const { userId } = session
      reply.header('set-cookie', await checkPassword(request, session.email, userId, body.currentPassword))
      const email = body.email.toLowerCase()
      if (email === session.email) throw invalid('email', 'is already your address')
      const org = session.org ?? (await listJoinedAllOrgs(db, userId))[0]?.id
      // The error is the same for every address, so it reveals nothing about other accounts.
      if (!config.smtp || !org) throw cannotConfirm()
      await Promise.all([askToConfirm(org, userId, email), sleep(leastMs)])
      return { email: session.email, confirmationSent: true }
    },
  )

  app.post(
    '/auth/address/confirm',
    {
      onRequest: async (request) => {
        countAttempt(request.ip)
        if (request.headers.origin !== undefined) checkOrigin(request, deps)
      },
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'confirmEmail',
        summary: 'Confirm a new email address',
        description: 'Takes the token from the link sent to the new address.',
        querystring: NoQuery,
        body: Confirmation,
        response: answers({ 200: Closed({ email: Email }) }, 400, 403, 409),
      },
    },
    async ({ body, id }) => {
      return identity.change('', async (trx) => {
        const taken = await takeAddressChange(trx, hashKey(body.token), clock.now())
        if (!taken)
          throw invalid(
            'token',
            'does not belong to an open change: the link was used, has expired, or was replaced by a newer one',
          )
        await change(trx, taken.userId, taken.email, id)
        return { email: taken.email }
      })
    },
  )
}
