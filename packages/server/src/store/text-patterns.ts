/** A character with its capital and its small letter, where each is one character, too. */
const cases = (character: string): string[] => {
  const forms = [character, character.toLowerCase(), character.toUpperCase()]
  return [...new Set(forms.filter((form) => [...form].length === 1))]
}

const isLetter = (character: string): boolean => cases(character).length > 1

export const isAscii = (text: string): boolean => [...text].every((character) => character <= '\u{7f}')

/** SQLite's LIKE for anything that has `text` in it. It knows the case of ASCII letters only, and is eight times as fast as GLOB. */
export const likeOf = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`

/** SQLite's GLOB for anything that has `text` in it, whatever the case of its letters. */
export const globOf = (text: string): string =>
  `*${[...text].map((c) => (isLetter(c) ? `[${cases(c).join('')}]` : '*?['.includes(c) ? `[${c}]` : c)).join('')}*`

/** The same as a regular expression of Postgres: with the locale C its `ILIKE` knows ASCII letters only. */
export const regexpOf = (text: string): string =>
  [...text].map((c) => (isLetter(c) ? `[${cases(c).join('')}]` : /[\w\0]/.test(c) || c > '\u{7f}' ? c : `\\${c}`)).join('')
