/** Returns the exact text of bytes: encoded again, it gives the same bytes. Undefined for bytes that are not UTF-8, or hold a zero as binary files do. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
