/** A text as a text field holds it: each of its lines ends with a line feed. */
export const fieldText = (text: string): string => text.replaceAll(/\r\n?/g, '\n')

/**
 * Returns the typed text with the line ends of `before` in all lines that did not change. A new line ends as the first line of `before` does.
 * @param before The text that the field was filled with.
 * @example
 * withLineEnds('one\r\ntwo', 'one\nthree') // 'one\r\nthree'
 */
export function withLineEnds(before: string, typed: string): string {
  const held = fieldText(before)
  if (held === before) return typed
  const most = Math.min(held.length, typed.length)
  let start = 0
  while (start < most && held[start] === typed[start]) start++
  let end = 0
  while (end < most - start && held.at(-1 - end) === typed.at(-1 - end)) end++
  const lineEnd = /\r\n?|\n/.exec(before)?.[0] ?? '\n'
  const changed = typed.slice(start, typed.length - end).replaceAll('\n', lineEnd)
  return before.slice(0, placeIn(before, start)) + changed + before.slice(placeIn(before, held.length - end))
}

/** Where in `before` the place `at` of its {@link fieldText} is. */
function placeIn(before: string, at: number): number {
  let place = 0
  for (let left = at; left > 0; left--) place += before.startsWith('\r\n', place) ? 2 : 1
  return place
}
