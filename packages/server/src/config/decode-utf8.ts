import { isUtf8 } from 'node:buffer'

/**
 * Returns the bytes of a file as text.
 * @throws Error for bytes that are not UTF-8. Decoded with replacement characters, a rule about "Löhne.md" would be one about "L\ufffdhne.md"
 * and never match.
 */
export function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Error('is not UTF-8: save it with that encoding')
  return bytes.toString('utf8')
}
