// Postgres has no text with NUL in it, and people may send one. It is written as two characters that begin with the last code point of
// Unicode, which nobody uses, and which is written as two itself.
const MARK = '\u{10ffff}'
const NUL_WRITTEN = `${MARK}0`
const MARK_WRITTEN = `${MARK}1`

/** Encodes any text for Postgres. */
export const writeText = (text: string): string =>
  text.includes('\0') || text.includes(MARK) ? text.replaceAll(MARK, MARK_WRITTEN).replaceAll('\0', NUL_WRITTEN) : text

/** Decodes the text that was written. */
export const readText = (text: string): string =>
  text.includes(MARK) ? text.replaceAll(NUL_WRITTEN, '\0').replaceAll(MARK_WRITTEN, MARK) : text
