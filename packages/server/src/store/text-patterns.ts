/** A character with its upper-case and lower-case form, where each is one character, too. */
const cases = (character: string): string[] => {
  const forms = [character, character.toLowerCase(), character.toUpperCase()]
  return [...new Set(forms.filter((form) => [...form].length === 1))]
}

const isLetter = (character: string): boolean => cases(character).length > 1

export const isAscii = (text: string): boolean => [...text].every((character) => character <= '\u{7f}')

/**
 * Returns a function that says whether a text has `text` in it, ignoring the case of all letters. It takes as long for any text of a length: LIKE
 * and GLOB of SQLite begin anew at each character, and compare as many characters as `text` has (0.6 s for `aaa…é` in 250,000 × `a`). Each bit of
 * `ends` stands for a beginning of `text`, and is set where the text ends in it (the Shift-And algorithm).
 */
export function finderOf(text: string): (whole: string) => boolean {
  const wanted = [...text].map(cases)
  const count = Math.ceil(wanted.length / BITS)
  const places = new Map<number, Int32Array>()
  for (const [at, forms] of wanted.entries()) {
    for (const form of forms) {
      const code = form.codePointAt(0) ?? 0
      const bits = places.get(code) ?? new Int32Array(count)
      bits[Math.floor(at / BITS)] = (bits[Math.floor(at / BITS)] ?? 0) | (1 << (at % BITS))
      places.set(code, bits)
    }
  }
  // Most characters of most texts: a list is read twice as fast as a map.
  const latin = Array.from({ length: LATIN }, (_, code) => places.get(code))
  const last = 1 << ((wanted.length - 1) % BITS)
  return (whole) => {
    const ends = new Int32Array(count)
    // How many of its numbers have a bit: few in most texts.
    let used = 0
    for (let at = 0; at < whole.length; at++) {
      let code = whole.charCodeAt(at)
      if (code >= 0xd800 && code < 0xdc00) {
        code = whole.codePointAt(at) ?? 0
        if (code > 0xffff) at++
      }
      const bits = code < LATIN ? latin[code] : places.get(code)
      if (used === 0 && (bits === undefined || ((bits[0] ?? 0) & 1) === 0)) continue
      let carried = 1
      let stillUsed = 0
      for (let i = 0; i <= used && i < count; i++) {
        const before = ends[i] ?? 0
        const now = bits === undefined ? 0 : ((before << 1) | carried) & (bits[i] ?? 0)
        ends[i] = now
        carried = before >>> (BITS - 1)
        if (now !== 0) stillUsed = i + 1
      }
      used = stillUsed
      if (used === count && ((ends[count - 1] ?? 0) & last) !== 0) return true
    }
    return wanted.length === 0
  }
}

const BITS = 32
const LATIN = 256

/** Returns the same as a regular expression of Postgres: with the locale C its `ILIKE` handles ASCII letters only. */
export const regexpOf = (text: string): string =>
  [...text].map((c) => (isLetter(c) ? `[${cases(c).join('')}]` : /[\w\0]/.test(c) || c > '\u{7f}' ? c : `\\${c}`)).join('')
