import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

/** By the names of RFC 9110, 8.4.1, and RFC 8878. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
])

/** Answers that have no body. */
export const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** True for an answer that is compressed. Nobody asks for that here, but some services and proxies do it for everybody. */
export const isCompressed = (response: IncomingMessage): boolean => decoderOf(response) !== undefined

function decoderOf({ headers, statusCode = 0 }: IncomingMessage): (() => Transform) | undefined {
  if (headers['content-length'] === '0' || WITHOUT_BODY.has(statusCode)) return undefined
  return DECODERS.get(headers['content-encoding']?.trim().toLowerCase() ?? '')
}

/**
 * Returns the body of an answer, decompressed if it is compressed. The reader counts its bytes, and one that stops reading ends the answer:
 * a small body may become a large one.
 */
export function bodyOf(response: IncomingMessage): Readable {
  const decoder = decoderOf(response)
  // The reader of the decoder gets the error.
  return decoder ? pipeline(response, decoder(), () => {}) : response
}
