import { isAscii } from './ascii.ts'
import { limitMarks } from './limit-marks.ts'
import { ALIKE_LATIN, ALIKE_OTHER, scriptOf, spellCodes } from './look-alike.ts'

/** A word without a space: `ORD-100`, `ada@example.com`, `src/index.ts`. */
const COMPOUND = /[^\s"'`<>()[\]{}|,;⟦⟧]+/gu
/** Signs that look like those of an address or a path; and like a hyphen. */
const SLASHES_AND_DOTS = '\u2044\u2215\u29f8\u2024\ua789'
const HYPHENS = '\u2010\u2011\u02d7'
const SIGNS = SLASHES_AND_DOTS + HYPHENS
/** The letters and digits that stand together in it, or one such sign. */
const RUN = new RegExp(
  `[${SIGNS}]|[\\p{L}\\p{M}\\p{N}_${[...ALIKE_OTHER.keys()].filter((char) => !/[\p{L}\p{M}\p{N}]/u.test(char)).join('')}]+`,
  'gu',
)
/** An address, a path, a number, a name with a capital in it: not a word of a sentence. */
const STRUCTURED = /[\d@_/:\\]|\.\p{L}|\p{Ll}\p{Lu}/u
/** Mathematical, full-width and similar forms of ASCII letters. */
const STYLED = /(?=[\p{L}\p{N}])[\u2100-\u214f\u2160-\u2188\uff10-\uff5a\u{1ccd6}-\u{1ccf9}\u{1d400}-\u{1d7ff}]/u
/** Scripts that nobody mixes with Latin within one word. Of others only what looks like an ASCII letter counts: `Tシャツ`, `10kΩ`. */
const NEVER_MIXED = /[\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u
/** Letters of living alphabets that look like ASCII letters: in a sentence they are what they seem. */
const ORTHOGRAPHIC = /[þıƒƷɣʋɩȢȣƿ]/
const ASCII_LETTER = /[a-z]/i

/**
 * The text with a mark behind every name that may be taken for another one: letters of two scripts in one word (`аdmin⟦U+0430 Cyrillic⟧`),
 * a part in look-alikes of Latin letters beside a Latin part, letters in another form than the usual one (NFC). Text in one script stays
 * as it is, whichever script that is.
 */
export function markNames(text: string): string {
  if (isAscii(text)) return text
  const isWhole = /^"?[^\s"]+"?$/u.test(text)
  return text.replace(COMPOUND, (compound, at: number) => markCompound(compound, isWhole, text, at))
}

function markCompound(compound: string, isWhole: boolean, text: string, at: number): string {
  // A pattern that looks for a letter beyond ASCII would read on from each character of a word that has none.
  if (isAscii(compound)) return compound
  const hasLatin = ASCII_LETTER.test(compound)
  const isStructured = STRUCTURED.test(compound)
  const isName = isWhole || isStructured
  // Once for the word: each of its runs would read all of it.
  const isNumbered = isWhole && /\d/.test(compound)
  const hasSigns = isNumbered || /[@/\\_]/.test(compound)
  const isBesideOthers = hasLatin || isNumbered || compound.includes('@')
  return compound.replace(RUN, (run, offset: number) => {
    if (isAscii(run)) return run
    if (SLASHES_AND_DOTS.includes(run) && !hasLatin) return run
    // Some write every hyphen so, in sentences: `GPT‑4`.
    if (HYPHENS.includes(run) && !hasSigns) return run
    let odd = oddLetters(run, isStructured)
    if (odd.length === 0 && isTakenForLatin(run) && !isEnding(compound, run, offset, isName) && (isBesideOthers || isNumberLike(run)))
      odd = foreignLetters(run)
    const limited = limitMarks(run)
    if (isName && limited.normalize() !== limited)
      odd = odd.concat([...run].filter((char) => /\p{M}/u.test(char) || char.normalize() !== char))
    if (odd.length === 0) return run
    const mark = `⟦${spellCodes([...new Set(odd)])}⟧`
    // Shown twice, it is marked once. Brackets that say anything else are somebody's text.
    return text.startsWith(mark, at + offset + run.length) ? run : run + mark
  })
}

/** The letters of a run that do not belong to the others: of two scripts, the one that has fewer letters in it. */
function oddLetters(run: string, isStructured: boolean): string[] {
  const chars = [...run]
  const latin = chars.filter((char) => ASCII_LETTER.test(char))
  const foreign = chars.filter(
    (char) =>
      ALIKE_OTHER.has(char) ||
      NEVER_MIXED.test(char) ||
      STYLED.test(char) ||
      (ALIKE_LATIN.has(char) && (isStructured || !ORTHOGRAPHIC.test(char))),
  )
  const dots = run.match(/(?<=[ijlı])\u0307/g) ?? []
  if (SIGNS.includes(run)) return chars
  if (latin.length > 0) return [...(latin.length < foreign.length && foreign.every(isOtherScript) ? latin : foreign), ...dots]
  const scripts = new Set(foreign.filter((char) => NEVER_MIXED.test(char) || scriptOf(char) === 'Greek').map(scriptOf))
  return [...(scripts.size > 1 ? foreign : []), ...dots]
}

const isOtherScript = (char: string): boolean => scriptOf(char) !== 'Latin' && !STYLED.test(char)

const foreignLetters = (run: string): string[] => [...run].filter((char) => !isAscii(char))

/** True where every letter beyond ASCII looks like an ASCII one. */
const isTakenForLatin = (run: string): boolean => foreignLetters(run).every((char) => ALIKE_OTHER.has(char))

/** The ending of a foreign word in a Slavic sentence: `API-у`. */
const isEnding = (compound: string, run: string, offset: number, isName: boolean): boolean =>
  !isName && /^\p{Ll}$/u.test(run) && compound.charAt(offset - 1) === '-'

/** `5О0`: digits, and letters that are taken for digits. */
const isNumberLike = (run: string): boolean =>
  /\d/.test(run) && foreignLetters(run).every((char) => /[Ool3]/.test(ALIKE_OTHER.get(char) ?? ''))
