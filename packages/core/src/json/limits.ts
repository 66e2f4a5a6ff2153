export interface ParseLimits {
  /** How many arrays and objects may stand inside each other; default 64, at most 1,000. A lone number has depth 0, `[]` has depth 1. */
  maxDepth: number
  /** How many bytes of UTF-8 the text may have; default 262,144. */
  maxBytes: number
  /** How many values there may be in all: members, elements and the whole itself. Default: as many as the bytes hold. */
  maxValues: number
}

// The scanner and the walker recurse, so a caller's limit must stay far from the end of the stack.
const DEEPEST = 1_000

export const readLimits = (limits: Partial<ParseLimits>): ParseLimits => ({
  maxDepth: Math.min(limits.maxDepth ?? 64, DEEPEST),
  maxBytes: limits.maxBytes ?? 262_144,
  maxValues: limits.maxValues ?? Number.POSITIVE_INFINITY,
})

const encoder = new TextEncoder()

export const utf8Length = (text: string): number => encoder.encode(text).length

/** True when `text` takes more than `maxBytes` in UTF-8. */
export const isLarger = (text: string, maxBytes: number): boolean =>
  // A UTF-16 unit takes 1 to 3 bytes: hardly any text has to be counted.
  text.length > maxBytes || (text.length * 3 > maxBytes && utf8Length(text) > maxBytes)

/** The reason of a refusal, thrown out of the recursion. It never leaves this folder. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal'
}

/** Refused for its size alone. */
export class TooLarge extends Refusal {
  override readonly name = 'TooLarge'
}
