import { ApiError, isApiError } from './api-error.ts'
import { type Schedule, scheduleTimeout } from './reconnect.ts'

/** The answer of a host's server to its own page: a token that it made with `POST /api/embed-tokens`, and when that expires. */
export type HostToken = { token: string | null; expiresAt: string }

/** Gives out the current token, and asks for another one before it expires. */
export type TokenSource = {
  /** @throws ApiError `offline` when the host gave none. */
  read(): Promise<string>
  /** Forgets a token that the server refused, unless it was replaced already. */
  forget(token: string): void
}

/** A new token is requested when this part of the lifetime is left. */
const RENEWED_AT = 0.2

/** Used for so long whatever `expiresAt` says, because the page's clock may be ahead. One that ended sooner is replaced when it is refused. */
const SHORTEST_USE_MS = 60_000

/** A request of the host that hangs must not hang all calls of the page for good: after this long the next call asks anew. */
const LONGEST_WAIT_MS = 30_000

/**
 * Calls of the same moment wait for one token.
 * @param ask Asks the host's server for a token.
 */
export function createTokenSource(
  ask: () => Promise<HostToken>,
  { now = Date.now, schedule = scheduleTimeout }: { now?: () => number; schedule?: Schedule } = {},
): TokenSource {
  let held: { token: string; renewAt: number } | undefined
  let asking: Promise<string> | undefined

  async function askNow(): Promise<string> {
    const tooLate = Promise.withResolvers<never>()
    const stopWaiting = schedule(() => tooLate.reject(new Error('The host has not answered for 30 s.')), LONGEST_WAIT_MS)
    try {
      const { token, expiresAt } = await Promise.race([ask(), tooLate.promise])
      // Any JSON of the host may arrive here, such as that of its own 401. Without a token the request would go out as whoever is signed in.
      if (typeof token !== 'string' || token === '') throw new Error('The host’s answer holds no token.')
      const lifeMs = Date.parse(expiresAt) - now()
      held = { token, renewAt: now() + Math.max((Number.isFinite(lifeMs) ? lifeMs : 0) * (1 - RENEWED_AT), SHORTEST_USE_MS) }
      return token
    } catch (cause) {
      if (isApiError(cause)) throw cause
      throw new ApiError('offline', 0, 'The page got no token from its own server.', { cause })
    } finally {
      stopWaiting()
      asking = undefined
    }
  }

  return {
    read: async () => {
      if (held && now() < held.renewAt) return held.token
      asking ??= askNow()
      return asking
    },
    forget(token) {
      if (held?.token === token) held = undefined
    },
  }
}
