/** A character with its upper-case and lower-case form, where each is one character, too. */
const cases = (character: string): string[] => {
  const forms = [character, character.toLowerCase(), character.toUpperCase()]
  return [...new Set(forms.filter((form) => [...form].length === 1))]
}

const isLetter = (character: string): boolean => cases(character).length > 1

export const isAscii = (text: string): boolean => [...text].every((character) => character <= '\u{7f}')

/**
 * Returns a pattern for SQLite's LIKE that matches text with `text` in it. LIKE handles the case of ASCII letters only, and is eight times
 * as fast as GLOB.
 */
export const likeOf = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`

/** Returns a pattern for SQLite's GLOB that matches text with `text` in it, ignoring the case of all letters. */
export const globOf = (text: string): string =>
  `*${[...text].map((c) => (isLetter(c) ? `[${cases(c).join('')}]` : '*?['.includes(c) ? `[${c}]` : c)).join('')}*`

/** Returns the same as a regular expression of Postgres: with the locale C its `ILIKE` handles ASCII letters only. */
export const regexpOf = (text: string): string =>
  [...text].map((c) => (isLetter(c) ? `[${cases(c).join('')}]` : /[\w\0]/.test(c) || c > '\u{7f}' ? c : `\\${c}`)).join('')
