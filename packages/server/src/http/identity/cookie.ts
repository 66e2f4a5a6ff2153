import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Store } from '../../store/index.ts'
import { openSecret } from './secret.ts'

/** How long the console stays signed in. */
export const COOKIE_SECONDS = 30 * 24 * 3600

/** Makes and reads the console's cookie: who, until when, and our signature over both. */
export interface CookieSigner {
  sign(principalId: string, nowMs: number): string
  /** The principal that the cookie is for, or undefined for one that is expired or not ours. */
  read(value: string, nowMs: number): string | undefined
}

/** Signs with a secret of its own. */
export async function openCookieSigner(store: Store): Promise<CookieSigner> {
  const secret = await openSecret(store, 'cookie_secret')
  const signatureOf = (text: string) => createHmac('sha256', secret).update(text).digest()
  return {
    sign(principalId, nowMs) {
      const text = `${principalId}.${nowMs + COOKIE_SECONDS * 1000}`
      return `${text}.${signatureOf(text).toString('base64url')}`
    },
    read(value, nowMs) {
      const match = /^((prn_[a-z0-9]{1,40})\.(\d{1,15}))\.([\w-]{43})$/.exec(value)
      if (!match?.[1] || !match[2] || !match[4]) return undefined
      const given = Buffer.from(match[4], 'base64url')
      if (!timingSafeEqual(given, signatureOf(match[1]))) return undefined
      return Number(match[3]) > nowMs ? match[2] : undefined
    },
  }
}
