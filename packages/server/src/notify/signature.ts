import { createHmac, randomBytes } from 'node:crypto'

/** Standard Webhooks allows 24 to 64 bytes. */
const SECRET_BYTES = 32
const PREFIX = 'whsec_'

/** Draws a new secret: `whsec_` and the base64 of 32 random bytes. */
export const drawSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

export interface Signed {
  id: string
  /** Seconds since 1970. */
  timestamp: number
  body: string
}

/**
 * Returns the header `webhook-signature` of a request, as Standard Webhooks defines it: `v1,` and the base64 of HMAC-SHA256 over
 * `id.timestamp.body`, once for each secret, separated by spaces.
 * @param secrets Each as {@link drawSecret} makes it.
 * @example
 * signatureOf({ id: 'evt_1', timestamp: 1_674_087_231, body: '{}' }, [secret]) // 'v1,K5oZfzN9…'
 */
export const signatureOf = ({ id, timestamp, body }: Signed, secrets: readonly string[]): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')
