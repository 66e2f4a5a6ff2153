/** Returns true when the text of a test file has a test of this name. Placeholders of a title stand for any text. */
export function hasTest(text: string, name: string): boolean {
  return [/'((?:[^'\\\n]|\\.)+)'/g, /`((?:[^`\\\n]|\\.)+)`/g, /"([^"\n]+)"/g].some((quoted) =>
    [...text.matchAll(quoted)].some(([, title = '']) => title === name || patternOf(title).test(name)),
  )
}

/** Returns a pattern for a test title: its words match themselves, a placeholder matches any text. */
function patternOf(title: string): RegExp {
  const words = title.split(/\$\{[^}]*\}|\$\w+|%s/)
  return words.join('').length < 5 ? /$./ : new RegExp(`^${words.map((text) => RegExp.escape(text)).join('.+')}$`)
}
