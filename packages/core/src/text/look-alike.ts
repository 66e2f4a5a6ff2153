import { isAscii } from './ascii.ts'
import { OTHER_SCRIPTS, SAME_SCRIPT } from './confusables.ts'
import { limitMarks } from './limit-marks.ts'
import { codeOf } from './spell-unseen.ts'

const readGroups = (text: string): ReadonlyMap<string, string> =>
  new Map(text.split(' ').flatMap(([letter = '', ...alike]) => alike.map((char) => [char, letter] as const)))

/** Letters of other scripts that look like an ASCII letter or digit, and which one. */
export const ALIKE_OTHER = readGroups(OTHER_SCRIPTS)
/** Letters of the Latin script that look like an ASCII one. */
export const ALIKE_LATIN = readGroups(SAME_SCRIPT)

const ASCII_ALIKE: Readonly<Record<string, string>> = { 1: 'l', I: 'l', '|': 'l', 0: 'O', ک: 'ك', ی: 'ى', ي: 'ى' }

/** Scripts whose names people know; any other is told by its code points alone. */
const SCRIPTS = 'Latin Cyrillic Greek Armenian Hebrew Arabic Cherokee Coptic Devanagari Bengali Thai Lao Georgian Myanmar Lisu Han'
  .split(' ')
  .map((name) => ({ name, pattern: new RegExp(`\\p{Script=${name}}`, 'u') }))

/** The name of the script of a letter; empty where it has none that people know. */
export const scriptOf = (char: string): string => SCRIPTS.find(({ pattern }) => pattern.test(char))?.name ?? ''

/** `U+0430 U+0435 Cyrillic`: the code points of the letters, at most six, and their script where it is one for all. */
export function spellCodes(chars: readonly string[]): string {
  const codes = chars.slice(0, 6).map(codeOf)
  const names = new Set(chars.map(scriptOf))
  return [...codes, ...(chars.length > 6 ? ['…'] : []), ...(names.size === 1 ? names : [])].filter((part) => part !== '').join(' ')
}

/**
 * The text with every letter replaced by one that stands for all that look like it (the skeleton of UTS #39, for look-alikes of ASCII):
 * two texts that may look the same have the same skeleton. Spaces at the ends count for nothing, as nobody sees them.
 */
function skeleton(text: string): string {
  let result = ''
  for (const char of limitMarks(text).normalize('NFKC').trim()) {
    result += ALIKE_OTHER.get(char) ?? ALIKE_LATIN.get(char) ?? ASCII_ALIKE[char] ?? char
  }
  return result
    .replace(/[\u2010-\u2013\u2212\u02d7]/g, '-')
    .replace(/[\u2018\u2019\u02bc`´]/g, "'")
    .replace(/(?<=[ijl])\u0307/g, '')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll('rn', 'm')
}

/**
 * Describes where two texts that may look the same differ; undefined when they are equal or look different.
 * @example
 * tellApart('admin', 'аdmin') // 'look alike, differ in character 1: U+0061 Latin → U+0430 Cyrillic'
 */
export function tellApart(before: string, after: string): string | undefined {
  if (before === after || skeleton(before) !== skeleton(after)) return undefined
  const [a, b] = [[...before], [...after]]
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const [was, is] = [a, b].map((chars) => spellCodes(chars.slice(start, chars.length - end)) || 'nothing')
  return `look alike, differ in character ${start + 1}: ${was} → ${is}`
}

/** The characters of a name: everything between spaces, quotes and brackets. */
const WORD = /[^\s"'`<>()[\]{}|,;⟦⟧]{2,100}/gu
const MAX_PAIRS = 5

/** Two spellings that may look the same, and in words where they differ. */
export type LookAlikes = { one: string; other: string; how: string }

/**
 * The words of these texts that look like another word among them and are not: `admin` and `аdmin`. At most five pairs. Pairs that differ
 * in ASCII alone (`l` and `1`) are left out: honest text is full of them.
 */
export function findLookAlikes(texts: readonly string[]): LookAlikes[] {
  const all = texts.join('\n')
  // Without a letter beyond ASCII there is nothing to find, and that is almost always.
  if (isAscii(all)) return []
  const words = new Map<string, string>()
  const pairs: LookAlikes[] = []
  for (const word of new Set(all.match(WORD))) {
    const key = skeleton(word)
    const known = words.get(key)
    if (known === undefined) words.set(key, word)
    else if (!isAscii(known + word) && pairs.length < MAX_PAIRS) {
      const how = tellApart(known, word)
      if (how !== undefined) pairs.push({ one: known, other: word, how })
    }
  }
  return pairs
}
