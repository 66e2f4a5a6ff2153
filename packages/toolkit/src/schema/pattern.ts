import { RE2JS } from 're2js'
import { patternSize } from './pattern-cost.ts'

/** Linear is not free: a text of 256 KB takes the worst patterns a twentieth of a second. A longer text than this has no form. */
const MAX_TEXT_CHARACTERS = 50_000

/** Characters times steps of their patterns, in one check of arguments. The worst patterns found took 0.1 to 0.4 µs for each: under 2 s in all; UUIDs take 6 ns. */
const MAX_STEPS = 4_000_000

/** The texts of one check of arguments are more than its patterns can be matched with in bounded time. */
export class TooMuchText extends Error {}

/** The total time of the patterns in one check of arguments. A check is not interrupted, so one budget is enough. */
let stepsLeft = 0

/** Gives the next check of arguments all of its time. */
export const startCheck = (): void => {
  stepsLeft = MAX_STEPS
}

const counted = new Map<string, (text: string) => boolean>()

/**
 * As {@link openPattern}, opened once for all schemas that have it, and counted: linear in the text is still too long for many patterns on
 * long texts.
 * @throws Error as {@link openPattern}; what it returns throws {@link TooMuchText}.
 */
export function openCountedPattern(pattern: string): (text: string) => boolean {
  const known = counted.get(pattern)
  if (known) return known
  const matches = openPattern(pattern)
  const size = patternSize(pattern)
  const matchesCounted = (text: string): boolean => {
    stepsLeft -= Math.min(text.length, MAX_TEXT_CHARACTERS) * size
    if (stepsLeft < 0) throw new TooMuchText()
    return matches(text)
  }
  counted.set(pattern, matchesCounted)
  return matchesCounted
}

/**
 * Compiles a pattern of a schema for an engine whose time is linear in the text: JavaScript's own takes years for some patterns that look
 * harmless, and the text comes from a model.
 * @throws Error in plain words for an invalid pattern, or one that only a backtracking engine can match.
 */
export function openPattern(pattern: string): (text: string) => boolean {
  try {
    new RegExp(pattern, 'u')
  } catch {
    throw new Error('is not a regular expression')
  }
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    return (text) => text.length <= MAX_TEXT_CHARACTERS && compiled.test(text)
  } catch {
    throw new Error('cannot be matched in bounded time: leave out look-ahead, look-behind, \\1 and counts above 1,000')
  }
}

const PIECE =
  /(?:[^\\[\](){}|*+?^$]|\\[dwsDWS\-./])(?<one>[*+?]|\{\d{1,3}(?:,\d{0,3})?\})?|\[(?:[^\\\]]|\\.)+\](?<many>[*+?]|\{\d{1,3}(?:,\d{0,3})?\})?/gu

/**
 * True for a pattern that a backtracking engine matches fast too: no groups, no choices, and at most one piece that repeats without end.
 * The validator itself matches the patterns of `patternProperties`, so only these are taken there.
 */
export function isPlainPattern(pattern: string): boolean {
  const body = pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '')
  const pieces = [...body.matchAll(PIECE)]
  const endless = pieces.filter(({ groups }) => /^[*+]$|,\}$/.test(groups?.one ?? groups?.many ?? ''))
  return pieces.map(([piece]) => piece).join('') === body && endless.length <= 1
}
