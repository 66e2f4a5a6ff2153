const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

/**
 * The text with every character that cannot be seen, or that changes how others are seen, spelled out as `⟦U+202E⟧`: controls,
 * direction marks, zero-width characters, odd spaces, lone surrogates.
 * @example
 * showInvisible('pay\u202Eeem') // 'pay⟦U+202E⟧eem'
 */
export const showInvisible = (text: string): string =>
  text.replace(INVISIBLE, (char) => `⟦U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟧`)

/** {@link showInvisible} for text of several lines: line feeds stay what they are. */
export const showLines = (text: string): string => text.split('\n').map(showInvisible).join('\n')
