import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** How long a sign-in link is valid. */
export const LINK_GOOD_MS = 10 * 60_000

/** More than a person opens while one of them is valid. */
const MAX_ENDED = 1_000

const NONCE_BYTES = 16
const EXPIRY_BYTES = 6
const CLAIM_BYTES = NONCE_BYTES + EXPIRY_BYTES
/** The nonce, the expiry and 32 bytes of HMAC: 54 bytes, which are exactly 72 characters of base64url, so each token has one spelling. */
const TOKEN = /^[\w-]{72}$/

/** Why a link signs nobody in. `unknown`: not made with this server's secret, which changes with every start. */
export type LinkRefusal = 'unknown' | 'expired' | 'used'

/** The sign-in links of one running server. */
export interface SignInLinks {
  /** The secret for {@link mintLinkToken}. */
  readonly secret: string
  /** Consumes a link. Returns undefined when it signs the person in, otherwise the reason why not. */
  redeem(token: string): LinkRefusal | undefined
}

const macOf = (secret: string, claim: Buffer): Buffer => createHmac('sha256', secret).update('sign-in link\n').update(claim).digest()

/**
 * Creates a token that signs in the person at this machine once, within {@link LINK_GOOD_MS}. Only a program that knows the server's secret
 * can create one; creating it sends nothing, so a program that took over the server's port learns nothing.
 */
export function mintLinkToken(secret: string, nowMs: number): string {
  const claim = Buffer.concat([randomBytes(NONCE_BYTES), Buffer.alloc(EXPIRY_BYTES)])
  claim.writeUIntBE(nowMs + LINK_GOOD_MS, NONCE_BYTES, EXPIRY_BYTES)
  return Buffer.concat([claim, macOf(secret, claim)]).toString('base64url')
}

/**
 * Returns the URL to open. The token is in the fragment, which browsers send to no server, so it appears in no access log.
 * @example
 * signInLink('http://localhost:4319', token) // http://localhost:4319/#sign-in=…
 */
export const signInLink = (origin: string, token: string): string => `${origin}/#sign-in=${token}`

/** @param nowMs This machine's time: links are made and used on the same machine. */
export function createSignInLinks(nowMs: () => number): SignInLinks {
  const secret = randomBytes(32).toString('base64url')
  /**
   * Links that were tried, and how each ended: a clock that is set must not make them valid again. Only a program that knows the secret can
   * add to it.
   */
  const ended = new Map<string, Exclude<LinkRefusal, 'unknown'>>()

  return {
    secret,
    redeem(token) {
      if (!TOKEN.test(token)) return 'unknown'
      const bytes = Buffer.from(token, 'base64url')
      const claim = bytes.subarray(0, CLAIM_BYTES)
      if (!timingSafeEqual(macOf(secret, claim), bytes.subarray(CLAIM_BYTES))) return 'unknown'
      const before = ended.get(token)
      if (before) return before
      const now = nowMs()
      const expiresAt = claim.readUIntBE(NONCE_BYTES, EXPIRY_BYTES)
      const isGood = expiresAt > now && expiresAt <= now + 2 * LINK_GOOD_MS
      ended.set(token, isGood ? 'used' : 'expired')
      const [oldest] = ended.keys()
      if (ended.size > MAX_ENDED && oldest !== undefined) ended.delete(oldest)
      return isGood ? undefined : 'expired'
    },
  }
}
