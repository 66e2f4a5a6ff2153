import type { IncomingMessage } from 'node:http'

/**
 * Limits how long a client may take to send a request, and how large its headers may be. A slow client holds only a connection, and not for
 * long. These limits do not apply to answers: streams stay open.
 */
export const INTAKE_LIMITS = {
  /** Headers and body. */
  requestTimeout: 30_000,
  /**
   * A kept-alive connection without a request on it. Longer than the 60 s for which proxies and load balancers keep theirs (nginx, AWS): the
   * side that sends has to end it, or a request is lost on a connection that the server is just closing.
   */
  keepAliveTimeout: 72_000,
  http: { headersTimeout: 10_000, maxHeaderSize: 16 * 1024, connectionsCheckingInterval: 1_000 },
}

/** The one accepted content type of bodies, strictly: no second type, no other character set, no tab before a suffix. */
const JSON_TYPE = /^application\/json(?: *; *charset="?utf-8"?)? *$/i

/** Returns true for a content type that a request with a body may have. */
export const isJsonType = (contentType: string): boolean => JSON_TYPE.test(contentType)

/** More than this of a refused body is not read: the connection is closed on it. */
const MAX_SKIPPED_BYTES = 16 * 1024 * 1024

/**
 * Reads the rest of a body that is refused and forgets it, then calls `done` once. An answer that is sent earlier closes the connection under
 * a client that still sends, and most clients then report the closed connection and never read the answer.
 */
export function skipBody(request: IncomingMessage, done: () => void): void {
  let skippedBytes = 0
  const skip = (chunk: Buffer) => {
    skippedBytes += chunk.length
    if (skippedBytes > MAX_SKIPPED_BYTES) end()
  }
  const end = () => {
    request.off('data', skip).off('end', end).off('close', end)
    done()
  }
  if (request.readableEnded || request.destroyed) done()
  else request.on('data', skip).on('end', end).on('close', end).resume()
}
