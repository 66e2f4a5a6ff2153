const MAX_CHARACTERS = 80
const LINE_BREAKS = /[\n\r\v\f\t\x85\u2028\u2029 ]+/g

/**
 * Formats a target's name for something inside one of our sentences: one line of at most 80 characters, without the quotes around it.
 * Invisible characters stay: the card names them, and two names that differ by one stay different.
 */
export function asName(text: string): string {
  const line = text.replace(LINE_BREAKS, ' ').trim().replace(/[“”]/g, '"')
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS - 1).toWellFormed()}…` : line
}

/**
 * Somebody's text in the quotes of a title, for a sentence of ours: one line of at most 80 characters, without quotes of its own kind.
 * @example
 * preview: async ({ id }) => ({ fields: [], headline: `Close the account of ${asTitle((await accounts.read(id)).name)}` })
 */
export const asTitle = (text: string): string => `“${asName(text)}”`
