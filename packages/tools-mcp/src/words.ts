/**
 * Returns a server's text as people and models may see it. Invisible characters (control characters, zero-width and direction marks, tag
 * characters) are spelled out, so that people and models read the same text. A longer text is cut, with a note.
 * @example
 * plainText('read\u200b me', 100) // 'read⟨U+200B⟩ me'
 */
export function plainText(text: string, maxCharacters: number): string {
  const rest = text.length - maxCharacters
  const kept = rest > 0 ? text.slice(0, maxCharacters) : text
  const shown = kept
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, (character) =>
      character === '\n' || character === '\t' ? character : named(character),
    )
  return rest > 0 ? `${shown}… (cut: ${rest} more characters)` : shown
}

const named = (character: string) => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`

/** Returns the same text on one line, for a sentence. */
export const plainLine = (text: string, maxCharacters: number): string => plainText(text.replace(/\s+/g, ' ').trim(), maxCharacters)
