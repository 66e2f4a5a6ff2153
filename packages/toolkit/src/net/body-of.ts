import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

/** By the names of RFC 9110, 8.4.1, and RFC 8878. */
const DECODERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
} as const

/** Answers that have no body. */
export const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** True for an answer that is compressed. Nobody asks for that here, but some services and proxies do it for everybody. */
export const isCompressed = ({ headers, statusCode = 0 }: IncomingMessage): boolean =>
  codingOf(headers) in DECODERS && headers['content-length'] !== '0' && !WITHOUT_BODY.has(statusCode)

const codingOf = (headers: IncomingMessage['headers']): string => headers['content-encoding']?.trim().toLowerCase() ?? ''

/**
 * Returns the body of an answer, decompressed if it is compressed. The reader counts its bytes, and one that stops reading ends the answer:
 * a small body may become a large one.
 */
export function bodyOf(response: IncomingMessage): Readable {
  if (!isCompressed(response)) return response
  const decoder = DECODERS[codingOf(response.headers) as keyof typeof DECODERS]()
  // The reader of the decoder gets the error.
  return pipeline(response, decoder, () => {})
}
