import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

/** Somebody who is known to the sign-in service. */
export interface KnownPerson {
  sub: string
  [claim: string]: unknown
}

type Claims = Record<string, unknown>

/** An OpenID provider on this machine, the certified one, that signs in whom it is told to without asking. */
export interface TestSignInService extends AsyncDisposable {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The person at the browser. */
  person: KnownPerson
  /** Changes to its next ID tokens before they are signed; by default none. */
  change: (claims: Claims) => Claims
  /** Signs ID tokens with a key that nobody published. */
  forges: boolean
  /** Goes through a sign-in as a browser does. Answers the address that the browser is sent back to. */
  visit(url: string): Promise<URL>
}

const CLIENT = { clientId: 'countersign-tests', clientSecret: 'a-secret-of-the-tests-0123456789' }

/** @param redirectUri Where browsers are sent back to. */
export async function startSignInService(redirectUri: string, signedOutUri: string): Promise<TestSignInService> {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  const otherKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  const state: Pick<TestSignInService, 'person' | 'change' | 'forges'> = {
    person: { sub: 'nobody' },
    change: (claims) => claims,
    forges: false,
  }
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined
  const server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [signedOutUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    jwks: { keys: [{ ...key, use: 'sig', alg: 'RS256', kid: 'one' }] },
    cookies: { keys: ['a key of the tests'] },
    ttl: { AccessToken: 3_600, AuthorizationCode: 60, Grant: 3_600, IdToken: 3_600, Interaction: 600, Session: 3_600 },
    pkce: { required: () => true },
    scopes: ['openid', 'profile', 'email'],
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    interactions: { url: () => '/who' },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => state.person }),
    async loadExistingGrant({ oidc }: { oidc: { client: { clientId: string }; session: { accountId: string } } }) {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  })
  provider.use(async (context, next) => {
    if (context.path === '/who') {
      await provider.interactionFinished(context.req, context.res, { login: { accountId: state.person.sub } })
      return
    }
    await next()
    const tokens = context.body as { id_token?: string } | undefined
    if (context.path === '/token' && tokens?.id_token) tokens.id_token = resigned(tokens.id_token)
  })
  answer = provider.callback()

  /** The same token with other claims, or by another key. */
  function resigned(token: string): string {
    const [header = '', payload = ''] = token.split('.')
    const claims = state.change(JSON.parse(Buffer.from(payload, 'base64url').toString()))
    const text = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
    const signature = sign('sha256', Buffer.from(text), createPrivateKey({ key: state.forges ? otherKey : key, format: 'jwk' }))
    return `${text}.${signature.toString('base64url')}`
  }

  async function visit(url: string): Promise<URL> {
    const jar = new Map<string, string>()
    let at = new URL(url)
    for (let hops = 0; hops < 10; hops++) {
      if (at.href.startsWith(redirectUri)) return at
      const response = await fetch(at, { redirect: 'manual', headers: { cookie: [...jar].map((pair) => pair.join('=')).join('; ') } })
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
        if (value === '') jar.delete(name)
        else jar.set(name, value)
      }
      const location = response.headers.get('location')
      if (location === null) throw new Error(`the provider answered ${response.status} at ${at.pathname}: ${await response.text()}`)
      at = new URL(location, at)
    }
    throw new Error('the provider does not come to an end')
  }

  return Object.assign(state, {
    issuer,
    ...CLIENT,
    visit,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}
