import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts a value that a browser or client stores for the server and can neither read nor change (AES-256-GCM of `node:crypto`).
 * `@fastify/secure-session` does the same with libsodium, whose native code would be built or downloaded at installation.
 */
export interface Seal {
  close(value: unknown): string
  /** Returns the value that was sealed; undefined when this secret and purpose did not seal it. */
  open(text: string): unknown
}

/** @param purpose A value sealed for one purpose does not open for another. */
export function createSeal(secret: string, purpose: string): Seal {
  const key = createHash('sha256').update(`${purpose} ${secret}`).digest()
  return {
    close(value) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      const body = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
    },
    open(text) {
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      try {
        return JSON.parse(decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8'))
      } catch {
        return undefined
      }
    },
  }
}
