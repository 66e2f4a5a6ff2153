// UTS #39 (Unicode Security Mechanisms): no language uses more than four marks in a row. More are drawn over the neighbouring lines.
export const UNSEEN = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}|[\p{Mn}\p{Me}](?<=[\p{Mn}\p{Me}]{5})`
const INVISIBLE = new RegExp(UNSEEN, 'gu')

/** `U+0430` */
export const codeOf = (char: string): string => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

export const spell = (char: string): string => `⟦${codeOf(char)}⟧`

/** The text with every character spelled out that cannot be seen. It marks no names: `showInvisible` does. */
export const spellUnseen = (text: string): string => text.replace(INVISIBLE, spell)

/**
 * A value, and at every second place the line feeds between its lines that may stay, so that a letter reads as one. Line feeds at its ends and more
 * than two empty lines are not among them: nobody would see those, or they would push the rest away.
 */
export const splitLines = (value: string): string[] => value.split(/(?<=[^\n])(\n{1,3})(?=[^\n])/)
