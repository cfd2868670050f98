// Implements the OpenID Connect flow with openid-client. Does not use the database.

import type { Configuration, ServerMetadata } from 'openid-client'
import type { Oidc } from '../../platform/config.ts'

/** The time limit for each of the issuer's responses. */
const timeoutSeconds = 5
/**
 * The time for which an issuer's endpoints are cached, because they rarely change. Its keys are fetched again when a
 * token has an unknown key.
 */
const discoveryLifetimeMs = 60 * 60_000

/** The reason why a person was rejected. The sign-in page has a message for each reason. */
export type Refusal =
  | 'declined'
  | 'expired'
  | 'failed'
  | 'no_email'
  | 'subject_mismatch'
  | 'token_rejected'
  | 'unknown'
  | 'unreachable'
  | 'unverified'
  | 'verification_malformed'
  | 'verification_missing'

/** The data that the browser stores while the person signs in at the issuer. */
export type Visit = { state: string; nonce: string; verifier: string; to: string }

/** A person as described by the issuer. `email` is a verified address, or the reason why there is none. */
export type OidcIdentity = {
  issuer: string
  subject: string
  email: { address: string } | { refused: Refusal }
}

type Claims = { sub: string; email?: unknown; email_verified?: unknown }

const loadLibrary = () => import('openid-client')

const onlyBasic = ({ token_endpoint_auth_methods_supported: methods = [] }: ServerMetadata): boolean =>
  methods.includes('client_secret_basic') && !methods.includes('client_secret_post')

const discover = async ({ issuer, clientId, clientSecret }: Oidc): Promise<Configuration> => {
  const { discovery, allowInsecureRequests, enableNonRepudiationChecks, ClientSecretBasic, ClientSecretPost } =
    await loadLibrary()
  const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)]
  const url = new URL(issuer)
  return discovery(
    url,
    clientId,
    undefined,
    (server, client, body, headers) => (onlyBasic(server) ? basic : post)(server, client, body, headers),
    {
      timeout: timeoutSeconds,
      // The signatures of ID tokens are verified, although TLS would be sufficient.
      execute: [enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [allowInsecureRequests] : [])],
    },
  )
}

/** Returns an error's code, or the code of its cause. */
const codeOf = (error: unknown): string => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  return typeof code === 'string' ? code : cause === undefined ? '' : codeOf(cause)
}

const refusalOf = (error: unknown): Refusal => {
  const code = codeOf(error)
  const { error: said } = error as { error?: unknown }
  if (said === 'access_denied') return 'declined'
  if (code === 'OAUTH_TIMEOUT' || (error instanceof TypeError && error.message === 'fetch failed')) return 'unreachable'
  // After the issuer is discovered, the subject is the only attribute in plain JSON that is compared.
  if (code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') return 'subject_mismatch'
  return /^OAUTH_(JWT|KEY_SELECTION|INVALID_RESPONSE)/.test(code) ? 'token_rejected' : 'failed'
}

/**
 * Returns the verified address in a set of claims. Only `true` counts, because an issuer that sends "false" has denied
 * that the address is verified.
 */
const vouchedFor = ({ email, email_verified: verified }: Claims, trustEmail: boolean): OidcIdentity['email'] => {
  if (typeof email !== 'string' || email === '') return { refused: 'no_email' }
  if (verified === true || (verified === undefined && trustEmail)) return { address: email }
  if (verified === undefined) return { refused: 'verification_missing' }
  return { refused: verified === false ? 'unverified' : 'verification_malformed' }
}

const isComplete = ({ email, email_verified: verified }: Claims) => email !== undefined && verified !== undefined

export type Issuer = ReturnType<typeof openIssuer>

export const openIssuer = (oidc: Oidc, onError: (error: unknown, message: string) => void) => {
  let known: { configuration: Configuration; at: number } | undefined
  let discovering: Promise<Configuration> | undefined

  const discoverOnce = (): Promise<Configuration> => {
    discovering ??= discover(oidc)
      .then((configuration) => {
        known = { configuration, at: performance.now() }
        return configuration
      })
      .finally(() => {
        discovering = undefined
      })
    return discovering
  }

  const findConfiguration = async (): Promise<Configuration> => {
    if (!known) return discoverOnce()
    // The cached endpoints stay in use while they are refreshed, and also if refreshing fails.
    if (performance.now() - known.at > discoveryLifetimeMs) {
      discoverOnce().catch((error: unknown) => onError(error, 'repeating the OpenID Connect discovery failed'))
    }
    return known.configuration
  }

  /**
   * Returns the claims about a person. If some are missing from the ID token, reads them from the user info endpoint,
   * provided that its subject is the same.
   */
  const readClaims = async (configuration: Configuration, accessToken: string, claims: Claims): Promise<Claims> => {
    if (isComplete(claims) || configuration.serverMetadata().userinfo_endpoint === undefined) return claims
    const { fetchUserInfo } = await loadLibrary()
    const info = await fetchUserInfo(configuration, accessToken, claims.sub)
    return info.email === undefined ? claims : info
  }

  const exchange = async (configuration: Configuration, url: URL, { state, nonce, verifier }: Visit) => {
    const { authorizationCodeGrant } = await loadLibrary()
    const tokens = await authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
    const token = tokens.claims()
    if (!token) throw new Error('the issuer sent no ID token')
    const claims = await readClaims(configuration, tokens.access_token, token)
    return { issuer: token.iss, subject: token.sub, email: vouchedFor(claims, oidc.trustEmail) }
  }

  /** Returns undefined while the issuer does not respond. */
  const reach = (): Promise<Configuration | undefined> =>
    findConfiguration().catch((error: unknown) => {
      onError(error, 'the OpenID Connect discovery failed')
      return undefined
    })

  return {
    /** Returns the URL at which the person signs in, and the data that the browser stores until they return. */
    begin: async (redirectUri: string, to: string): Promise<{ url: string; visit: Visit } | { refused: Refusal }> => {
      const configuration = await reach()
      if (!configuration) return { refused: 'unreachable' }
      const library = await loadLibrary()
      const verifier = library.randomPKCECodeVerifier()
      const visit = { state: library.randomState(), nonce: library.randomNonce(), verifier, to }
      const url = library.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state: visit.state,
        nonce: visit.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, visit }
    },

    /** Returns the person who returned to `url`. */
    end: async (url: URL, visit: Visit): Promise<OidcIdentity | { refused: Refusal }> => {
      // Another tab or site has started a new sign-in in the meantime.
      if (url.searchParams.get('state') !== visit.state) return { refused: 'expired' }
      const configuration = await reach()
      if (!configuration) return { refused: 'unreachable' }
      try {
        return await exchange(configuration, url, visit)
      } catch (error) {
        const refused = refusalOf(error)
        if (refused !== 'declined') onError(error, 'a single sign-on failed')
        return { refused }
      }
    },
  }
}
