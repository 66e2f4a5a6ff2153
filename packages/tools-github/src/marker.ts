/**
 * The line that says in a text on GitHub which attempt made it. People do not see it there; a lost answer is found again by it.
 * @param key An idempotency key: letters, digits, `_` and `.`, so that it cannot end the comment that it stands in.
 */
export const markerOf = (key: string): string => `<!-- countersign:${key} -->`

/** What the card says of the marker, whose key is not known before the attempt. */
export const MARKER_SHOWN = '<!-- countersign:… --> (with the key of the attempt; not visible on GitHub)'

/** The text with the marker as its last line. */
export const withMarker = (text: string, key: string): string => (text === '' ? markerOf(key) : `${text}\n\n${markerOf(key)}`)

/**
 * True when the text was made by the attempt with this key. Only the last line counts: what stands above it may quote the marker of any
 * other text.
 */
export const hasMarker = (text: string | null | undefined, key: string): boolean =>
  (text ?? '').trimEnd().split(/\r?\n/).at(-1) === markerOf(key)

/** The text as people see it. */
export const withoutMarker = (text: string): string => text.replace(/\s*<!-- countersign:[\w.]+ -->\s*$/, '')

const TRAILER = 'Countersign-Key'

/** What the card says of the trailer. */
export const TRAILER_SHOWN = `${TRAILER}: … (with the key of the attempt; the last line of the message)`

/** A commit message with the key as its last trailer, below those that it has. */
export function withTrailer(message: string, key: string): string {
  const text = message.trimEnd()
  const hasTrailers = text.includes('\n') && /^[A-Za-z][\w-]*: \S.*$/.test(text.slice(text.lastIndexOf('\n') + 1))
  return `${text}${hasTrailers ? '\n' : '\n\n'}${TRAILER}: ${key}`
}

/** True when the commit was made by the attempt with this key. */
export const hasTrailer = (message: string, key: string): boolean => message.trimEnd().split('\n').at(-1) === `${TRAILER}: ${key}`
