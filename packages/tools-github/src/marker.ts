/**
 * Returns the line that marks a text on GitHub with the attempt that created it. GitHub does not display it. It identifies the text after a
 * lost answer.
 * @param key An idempotency key: letters, digits, `_` and `.`, so that it cannot end the HTML comment.
 */
export const markerOf = (key: string): string => `<!-- countersign:${key} -->`

const MARKER = /^<!-- countersign:[\w.]+ -->$/

/** The marker as shown on the card. The key of the attempt is not known before the attempt. */
export const MARKER_SHOWN = '<!-- countersign:… --> (with the key of the attempt; not visible on GitHub)'

/** Returns the text with the marker as its last line. */
export const withMarker = (text: string, key: string): string => (text === '' ? markerOf(key) : `${text}\n\n${markerOf(key)}`)

/**
 * True when the attempt with this key created the text. Only the last line counts, because earlier lines may quote the marker of another
 * text.
 */
export const hasMarker = (text: string | null | undefined, key: string): boolean =>
  (text ?? '').trimEnd().split(/\r?\n/).at(-1) === markerOf(key)

/** Returns the text as people see it. */
export function withoutMarker(text: string): string {
  // Without a pattern for the white space around it: that takes the square of a row of spaces, 13 s for 65,000.
  const end = text.trimEnd()
  const at = end.lastIndexOf('<!-- countersign:')
  return at >= 0 && MARKER.test(end.slice(at)) ? end.slice(0, at).trimEnd() : text
}

const TRAILER = 'Countersign-Key'

/** The trailer as shown on the card. */
export const TRAILER_SHOWN = `${TRAILER}: … (with the key of the attempt; the last line of the message)`

/** Returns a commit message with the key as its last trailer. */
export function withTrailer(message: string, key: string): string {
  const text = message.trimEnd()
  const hasTrailers = text.includes('\n') && /^[A-Za-z][\w-]*: \S.*$/.test(text.slice(text.lastIndexOf('\n') + 1))
  return `${text}${hasTrailers ? '\n' : '\n\n'}${TRAILER}: ${key}`
}

/** True when the attempt with this key created the commit. */
export const hasTrailer = (message: string, key: string): boolean => message.trimEnd().split('\n').at(-1) === `${TRAILER}: ${key}`
