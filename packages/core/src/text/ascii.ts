export const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text)

/**
 * True for a text in which no name is to be marked: ASCII alone, without a host that is spelled `xn--`. For such a text {@link spellUnseen} says
 * the same as `showInvisible`, and needs no table of letters.
 */
export const isPlain = (text: string): boolean => isAscii(text) && !/xn--/i.test(text)

/** True for two plain texts that differ and may look the same: `admin1` and `adminl`. */
export const areAlike = (one: string, other: string): boolean => one !== other && fold(one) === fold(other)

const fold = (text: string): string => text.trim().replace(/[1I|]/g, 'l').replaceAll('0', 'O').replaceAll('`', "'").replaceAll('rn', 'm')
