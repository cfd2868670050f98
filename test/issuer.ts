import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { serve } from './outside.ts'

export type Claims = {
  sub: string
  email?: unknown
  email_verified?: unknown
  name?: string
  iss?: string
  aud?: string
  nonce?: string
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

type State = {
  person: Claims | undefined
  forged: boolean
  /** The response of the user info endpoint. */
  userInfo: Claims | undefined
  /** Whether the issuer accepts requests without responding. */
  silent: boolean
}

/** Starts an OpenID Connect issuer. Anyone who is sent to it returns as the person that the test set last. */
export const openIssuer = async (whenOver?: Parameters<typeof serve>[1]) => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const strange = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const state: State = { person: undefined, forged: false, userInfo: undefined, silent: false }
  const codes = new Map<string, { nonce: string | null; challenge: string | null; client: string | null }>()
  let issuer = ''
  const client = { id: 'earshot', secret: 'the-secret-of-the-client' }

  const tokenFor = (claims: Claims, nonce: string | null, audience: string | null) => {
    const now = Math.floor(Date.now() / 1_000)
    const head = base64url({ alg: 'RS256', kid: 'one', typ: 'JWT' })
    const body = base64url({
      iss: issuer,
      aud: audience,
      iat: now,
      exp: now + 300,
      ...(nonce && { nonce }),
      ...claims,
    })
    const signature = sign('sha256', Buffer.from(`${head}.${body}`), state.forged ? strange : privateKey)
    return `${head}.${body}.${signature.toString('base64url')}`
  }

  const { url: origin } = await serve(async (request, response) => {
    if (state.silent) return
    const url = new URL(request.url ?? '/', issuer)
    const send = (value: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (url.pathname === '/.well-known/openid-configuration') {
      return send({
        issuer,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
      })
    }
    if (url.pathname === '/userinfo') return send(state.userInfo ?? state.person ?? {})
    if (url.pathname === '/jwks') {
      return send({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] })
    }
    if (url.pathname === '/authorize') return response.writeHead(302, { location: authorize(url.searchParams) }).end()
    const tokens = exchangeCode(new URLSearchParams(await text(request)))
    return tokens ? send(tokens) : send({ error: 'invalid_grant' }, 400)
  }, whenOver)

  /** Remembers who signs in, and returns the address that the browser goes back to. */
  const authorize = (query: URLSearchParams): string => {
    const code = randomUUID()
    codes.set(code, {
      nonce: query.get('nonce'),
      challenge: query.get('code_challenge'),
      client: query.get('client_id'),
    })
    const back = new URL(query.get('redirect_uri') ?? '')
    back.searchParams.set('state', query.get('state') ?? '')
    if (state.person) back.searchParams.set('code', code)
    else back.searchParams.set('error', 'access_denied')
    return back.href
  }

  const exchangeCode = (form: URLSearchParams): object | undefined => {
    const code = form.get('code') ?? ''
    const begun = codes.get(code)
    const verifier = form.get('code_verifier') ?? ''
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    if (!begun || !state.person || begun.challenge !== challenge) return undefined
    codes.delete(code)
    return {
      access_token: randomUUID(),
      token_type: 'Bearer',
      expires_in: 300,
      id_token: tokenFor(state.person, begun.nonce, begun.client),
    }
  }
  issuer = origin
  return { issuer, client, state }
}
