import { type ParseLimits, Refusal, TooLarge } from './limits.ts'
import { numberProblem } from './number.ts'
import type { JsonObject, JsonValue } from './value.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const PLAIN = /[^"\\\u0000-\u001f]*/y
const SIMPLE_ESCAPES = '"\\/bfnrt'

/**
 * Reads one JSON text into plain values in a single pass. `maxDepth` bounds the recursion, and every loop moves `at` forward, so the time
 * is linear. A refusal is thrown as a {@link Refusal}, with `at` at its position.
 */
export class Scanner {
  at = 0
  readonly #text: string
  readonly #maxDepth: number
  readonly #keepsNumbers: boolean
  #valuesLeft: number
  readonly #maxValues: number

  /** @param keepsNumbers True gives a number that no double stands for as its text, instead of refusing the whole. */
  constructor(text: string, limits: ParseLimits, keepsNumbers: boolean) {
    this.#text = text
    this.#keepsNumbers = keepsNumbers
    this.#maxDepth = limits.maxDepth
    this.#maxValues = limits.maxValues
    this.#valuesLeft = limits.maxValues
  }

  read(): JsonValue {
    const value = this.#value(0)
    this.#space()
    if (this.at < this.#text.length) this.#unexpected('the end')
    return value
  }

  #value(depth: number): JsonValue {
    if (this.#valuesLeft-- <= 0) throw new TooLarge(`more than ${this.#maxValues} values`)
    this.#space()
    const unit = this.#text.charCodeAt(this.at)
    switch (unit) {
      case 0x7b:
        return this.#object(depth + 1)
      case 0x5b:
        return this.#array(depth + 1)
      case QUOTE:
        return this.#string()
      case 0x74:
        return this.#word('true', true)
      case 0x66:
        return this.#word('false', false)
      case 0x6e:
        return this.#word('null', null)
    }
    if (unit === 0x2d || isDigit(unit)) return this.#number()
    return this.#unexpected('a value')
  }

  #object(depth: number): JsonObject {
    this.#enter(depth)
    const object: JsonObject = {}
    if (this.#ends(0x7d)) return object
    for (;;) {
      this.#space()
      const keyAt = this.at
      if (this.#text.charCodeAt(keyAt) !== QUOTE) this.#unexpected('a key in double quotes')
      const key = this.#string()
      if (key === '__proto__') this.#refuse('the key "__proto__" is not allowed', keyAt)
      // hasOwn: `toString` is a fine key although every object inherits one.
      if (Object.hasOwn(object, key)) this.#refuse(`the key ${quote(key)} appears twice in one object`, keyAt)
      this.#space()
      if (this.#text.charCodeAt(this.at) !== 0x3a) this.#unexpected('":"')
      this.at++
      const value = this.#value(depth)
      if (key === 'constructor' && hasPrototype(value)) this.#refuse('"constructor" holding "prototype" is not allowed', keyAt)
      object[key] = value
      if (this.#ends(0x7d)) return object
      if (this.#text.charCodeAt(this.at) !== 0x2c) this.#unexpected('"," or "}"')
      this.at++
    }
  }

  #array(depth: number): JsonValue[] {
    this.#enter(depth)
    const array: JsonValue[] = []
    if (this.#ends(0x5d)) return array
    for (;;) {
      array.push(this.#value(depth))
      if (this.#ends(0x5d)) return array
      if (this.#text.charCodeAt(this.at) !== 0x2c) this.#unexpected('"," or "]"')
      this.at++
    }
  }

  #enter(depth: number): void {
    if (depth > this.#maxDepth) this.#refuse(`nested deeper than ${this.#maxDepth} levels`)
    this.at++
  }

  #ends(bracket: number): boolean {
    this.#space()
    if (this.#text.charCodeAt(this.at) !== bracket) return false
    this.at++
    return true
  }

  #space(): void {
    let at = this.at
    for (;;) {
      const unit = this.#text.charCodeAt(at)
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) break
      at++
    }
    this.at = at
  }

  #word<T extends JsonValue>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.at)) this.#unexpected('a value')
    this.at += word.length
    return value
  }

  #string(): string {
    const text = this.#text
    const start = this.at
    let at = start + 1
    let escaped = false
    for (;;) {
      const unit = text.charCodeAt(at)
      if (unit === QUOTE) break
      if (unit === BACKSLASH) {
        escaped = true
        at = this.#escape(at)
      } else if (unit >= 0x20) at = at - start < 16 ? at + 1 : this.#plain(at)
      else {
        this.at = at
        // NaN, past the end, lands here too: it is not >= 0x20.
        if (at >= text.length) this.#refuse('a string has no closing quote', start)
        this.#refuse('a control character in a string must be escaped')
      }
    }
    this.at = at + 1
    if (!escaped) return text.slice(start + 1, at)
    const decoded: string = JSON.parse(text.slice(start, at + 1))
    // Raw halves were looked for in the whole text; only escapes can still make one.
    if (!decoded.isWellFormed()) this.#refuse('half of a surrogate pair (\\ud800 to \\udfff) stands alone in a string', start)
    return decoded
  }

  /** The end of the run of ordinary characters that begins at `at`. */
  #plain(at: number): number {
    PLAIN.lastIndex = at
    PLAIN.test(this.#text)
    return PLAIN.lastIndex
  }

  /** Past the escape that begins at `at`. */
  #escape(at: number): number {
    const letter = this.#text[at + 1] ?? ''
    if (letter !== '' && SIMPLE_ESCAPES.includes(letter)) return at + 2
    if (letter === 'u' && this.#isHex(at + 2) && this.#isHex(at + 3) && this.#isHex(at + 4) && this.#isHex(at + 5)) return at + 6
    return this.#refuse('a backslash in a string begins no escape that JSON knows', at)
  }

  #isHex(at: number): boolean {
    const unit = this.#text.charCodeAt(at)
    return isDigit(unit) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x66)
  }

  #number(): number | string {
    const text = this.#text
    const start = this.at
    if (text.charCodeAt(this.at) === 0x2d) this.at++
    if (text.charCodeAt(this.at) === 0x30) this.at++
    else this.#digits()
    if (text.charCodeAt(this.at) === 0x2e) {
      this.at++
      this.#digits()
    }
    let exact = this.at - start <= 15
    if ((text.charCodeAt(this.at) | 0x20) === 0x65) {
      exact = false
      this.at++
      const sign = text.charCodeAt(this.at)
      if (sign === 0x2b || sign === 0x2d) this.at++
      this.#digits()
    }
    const token = text.slice(start, this.at)
    const value = Number(token)
    // 15 digits without an exponent always survive in a double; anything else is compared digit by digit.
    const problem = exact ? undefined : numberProblem(token, value)
    if (problem && this.#keepsNumbers) return token
    if (problem) this.#refuse(problem, start)
    // -0 is written 0 in canonical JSON: what is decided, stored and sent must be one value, so it is 0 from here on.
    return value === 0 ? 0 : value
  }

  #digits(): void {
    if (!isDigit(this.#text.charCodeAt(this.at))) this.#unexpected('a digit')
    while (isDigit(this.#text.charCodeAt(this.at))) this.at++
  }

  #unexpected(wanted: string): never {
    const point = this.#text.codePointAt(this.at)
    const found = point === undefined ? 'the end' : quote(String.fromCodePoint(point))
    return this.#refuse(`expected ${wanted}, found ${found}`)
  }

  #refuse(reason: string, at = this.at): never {
    this.at = at
    throw new Refusal(reason)
  }
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39

const quote = (text: string): string => JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 40)}…`)

const hasPrototype = (value: JsonValue): boolean => typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
