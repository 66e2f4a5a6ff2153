const FOREIGN = /[^A-Za-z0-9+/]/

/**
 * True for Base64 in the standard alphabet that is not empty. The padding may be missing.
 *
 * The pattern searches for a character outside the alphabet. `[A-Za-z0-9+/]+` would keep a place to go back to for each character, and
 * overflow V8's stack on 5 MB wherever V8 does not optimize it: it stops optimizing patterns once a process has compiled 1 MB of them.
 * @example
 * isBase64('iVBORw0KGgo=') // true
 */
export function isBase64(text: string): boolean {
  const digits = text.replace(/==?$/, '')
  return digits !== '' && !FOREIGN.test(digits)
}
