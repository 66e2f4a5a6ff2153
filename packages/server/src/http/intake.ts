/**
 * How long a client may take to send a request, and how large its head may be. Whoever sends slower than this holds a connection and
 * nothing else, and not for long. How long an answer takes is not bounded by these: streams stay open.
 */
export const INTAKE_LIMITS = {
  /** Head and body. */
  requestTimeout: 30_000,
  /** A kept connection without a request on it. */
  keepAliveTimeout: 10_000,
  http: { headersTimeout: 10_000, maxHeaderSize: 16 * 1024, connectionsCheckingInterval: 1_000 },
}

/** The one content type of bodies, without tricks: no second type, no other character set, no tab before a suffix. */
const JSON_TYPE = /^application\/json(?: *; *charset="?utf-8"?)? *$/i

/** True for what may stand in the header of a request with a body. */
export const isJsonType = (contentType: string): boolean => JSON_TYPE.test(contentType)
