const FOREIGN = /[^A-Za-z0-9+/]/

/**
 * True for Base64 in the standard alphabet that is not empty; its padding is not held against its length.
 *
 * What does not belong is looked for, because `[A-Za-z0-9+/]+` remembers each character that it has taken: of 5 MB it overflows the stack
 * in a browser, and in Node once the process has compiled a megabyte of patterns, after which V8 does without its optimizations.
 * @example
 * isBase64('iVBORw0KGgo=') // true
 */
export function isBase64(text: string): boolean {
  const digits = text.replace(/==?$/, '')
  return digits !== '' && !FOREIGN.test(digits)
}
