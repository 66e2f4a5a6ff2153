import { CountersignError, type Principal } from '@countersign/core'
import { type Network, outgoingFetch } from '@countersign/toolkit'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Clock } from '../clock.ts'
import type { OidcSettings } from '../config/index.ts'
import { consoleSessions, principals, type Store, type Tx } from '../store/index.ts'
import { hashOf } from './keys.ts'
import { type Claims, personFrom, personIdsOf } from './oidc-person.ts'
import { createSeal } from './seal.ts'
import { SIGN_IN_SECONDS } from './sign-in-time.ts'

/** The log names at most this many of the groups that gave no role, each by its first characters. */
const MOST_LOGGED = 20
const MOST_CHARACTERS = 200

/** The state that a browser carries through a sign-in, sealed. */
const Begun = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  returnTo: z.string(),
  until: z.number(),
})

export interface SignInService {
  /** Begins a sign-in: returns where the browser goes, and what its cookie holds until it is back. */
  begin(redirectUri: string, returnTo: string): Promise<{ url: string; sealed: string }>
  /**
   * Completes a sign-in with the answer that the browser brings back.
   * @param answer The query of the redirect URL.
   * @throws CountersignError `unauthenticated` unless it is a fresh answer to this browser's own sign-in.
   */
  finish(answer: string, sealed: string | undefined): Promise<{ principal: Principal; idToken: string | undefined; returnTo: string }>
  /** Returns where the browser signs out of the service itself; undefined when the service has no such URL. */
  endSessionUrl(idToken: string, backTo: string): Promise<string | undefined>
}

export interface SignInServiceOptions {
  settings: OidcSettings
  store: Store
  clock: Clock
  log: Logger
  secret: string
  /** The network guard for requests to the provider: URLs in its documents are not trusted. */
  network: Network
}

/**
 * Signs people in with an OpenID Connect provider: authorization code with PKCE, state and nonce, each bound to the browser by a sealed
 * cookie. ID tokens are verified by their signature, although they come straight from the provider. Discovery happens on first use: a
 * server starts without the provider.
 */
export function createSignInService({ settings, store, clock, log, secret, network }: SignInServiceOptions): SignInService {
  const seal = createSeal(secret, 'sign-in')
  let found: Promise<Configuration> | undefined
  const configuration = (): Promise<Configuration> => {
    found ??= discover(settings, network).catch((error: unknown) => {
      found = undefined
      log.warn({ error, issuer: settings.issuer }, 'sign_in.service_not_found')
      const own = otherIssuerIn(error)
      if (own === undefined) throw new CountersignError('not_ready', 'the sign-in service cannot be reached; try again in a moment')
      throw new CountersignError(
        'not_ready',
        `the sign-in service has another name than the setting: an administrator can set COUNTERSIGN_OIDC_ISSUER, or issuer in signIn, to ${own}`,
      )
    })
    return found
  }

  async function readClaims(config: Configuration, begun: z.infer<typeof Begun>, answer: string): Promise<[Claims, string | undefined]> {
    const url = new URL(begun.redirectUri)
    url.search = answer
    const tokens = await authorizationCodeGrant(config, url, {
      pkceCodeVerifier: begun.verifier,
      expectedState: begun.state,
      expectedNonce: begun.nonce,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (!claims) throw new Error('there is no ID token')
    if (claims[settings.groupsClaim] !== undefined || !config.serverMetadata().userinfo_endpoint) return [claims, tokens.id_token]
    // Many providers keep the ID token small and return groups and names from the userinfo endpoint.
    return [{ ...claims, ...(await fetchUserInfo(config, tokens.access_token, claims.sub)) }, tokens.id_token]
  }

  return {
    async begin(redirectUri, returnTo) {
      const config = await configuration()
      const begun = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier(), redirectUri, returnTo }
      const url = buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, sealed: seal.close({ ...begun, until: clock.nowMs() + SIGN_IN_SECONDS * 1_000 }) }
    },

    async finish(answer, sealed) {
      const { data: begun } = Begun.safeParse(sealed === undefined ? undefined : seal.open(sealed))
      const now = clock.nowMs()
      if (!begun || begun.until < now || new URLSearchParams(answer).get('state') !== begun.state) {
        throw new CountersignError('unauthenticated', 'this sign-in has expired, or was begun in another browser: begin again')
      }
      const isFirst = await store.transact(function* () {
        yield* consoleSessions.forgetSignIns.run({ before: now - 2 * SIGN_IN_SECONDS * 1_000 })
        return (yield* consoleSessions.useSignIn.change({ state_hash: hashOf(begun.state), now })) === 1
      })
      if (!isFirst) throw new CountersignError('unauthenticated', 'this sign-in was used already: begin again')
      const config = await configuration()
      const [claims, idToken] = await readClaims(config, begun, answer).catch((error: unknown) => {
        log.warn({ error, issuer: settings.issuer }, 'sign_in.refused')
        throw new CountersignError('unauthenticated', 'the answer of the sign-in service was not accepted: begin again')
      })
      const ids = personIdsOf(claims.sub, settings.issuer, config.serverMetadata().issuer)
      const { person, leftOut } = personFrom(await storedIdOf(store, ids), claims, settings)
      if (leftOut.length > 0) {
        const groups = leftOut.slice(0, MOST_LOGGED).map((group) => group.slice(0, MOST_CHARACTERS))
        log.warn({ person: person.id, count: leftOut.length, groups }, 'sign_in.groups_left_out')
      }
      return { principal: person, idToken, returnTo: begun.returnTo }
    },

    async endSessionUrl(idToken, backTo) {
      const config = await configuration()
      if (!config.serverMetadata().end_session_endpoint) return undefined
      return buildEndSessionUrl(config, { id_token_hint: idToken, post_logout_redirect_uri: backTo }).href
    },
  }
}

/** Returns the id that is stored; the first one for somebody who never signed in. */
function storedIdOf(store: Store, ids: [string, ...string[]]): Promise<string> {
  return store.read(function* (): Tx<string> {
    for (const id of ids) if (yield* principals.findPrincipal.first({ id })) return id
    return ids[0]
  })
}

/** Returns the issuer in the document of a sign-in service that was refused because it is not the one of the setting. */
function otherIssuerIn(error: unknown): string | undefined {
  const { body, attribute } = Object(error instanceof Error && error.cause) as { body?: { issuer?: unknown }; attribute?: unknown }
  return attribute === 'issuer' && typeof body?.issuer === 'string' ? body.issuer : undefined
}

async function discover({ issuer, clientId, clientSecret }: OidcSettings, network: Network): Promise<Configuration> {
  const send = outgoingFetch(network, new URL(issuer).origin)
  // The settings refuse plain http unless the provider is on this machine.
  const isPlain = issuer.startsWith('http:')
  const config = await discovery(new URL(issuer), clientId, clientSecret, undefined, {
    execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
    timeout: 10,
    // The library's own name for the same options, with the body's bytes in a wider type.
    [customFetch]: (url, options) => send(url, options as RequestInit),
  })
  return config
}
