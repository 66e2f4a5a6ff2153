import { type ParseLimits, Refusal, readLimits, utf8Length } from './limits.ts'
import type { JsonObject, JsonValue } from './value.ts'

/** `path` is a JSON Pointer to the trouble (`/items/0/price`, empty for the whole); `reason` is plain words and names the path too. */
export type CheckResult = { ok: true; value: JsonValue } | { ok: false; reason: string; tooLarge: boolean; path: string }

/**
 * Applies the rules of {@link parseJson} to a JavaScript value: the result of a tool, the argument of an SDK call. Refuses NaN and
 * infinities, numbers beyond ±(2^53 − 1), undefined (also as a member or a hole), functions, symbols, bigints, cycles, objects of a class
 * (dates, maps, boxed values), half surrogate pairs, `__proto__`, `constructor` holding `prototype`, too deep, too large. `-0` becomes `0`.
 * Symbol keys and members that are not enumerable are left out. Never throws, even when a getter or a proxy does.
 *
 * @param limits Other limits than 64 levels and 262,144 bytes; bytes are counted as `JSON.stringify` would write the value.
 * @returns A deep copy: later changes of the original do not affect it.
 * @example
 * checkJson({ total: 12.5 }) // { ok: true, value: { total: 12.5 } }
 * checkJson({ items: [Number.NaN] }) // { ok: false, reason: 'NaN is not JSON (at /items/0)', tooLarge: false, path: '/items/0' }
 */
export function checkJson(value: unknown, limits: Partial<ParseLimits> = {}): CheckResult {
  const walker = new Walker(readLimits(limits))
  try {
    return { ok: true, value: walker.copy(value, 0) }
  } catch (error) {
    const path = walker.path
      .map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join('')
      .toWellFormed()
    const reason = error instanceof Refusal ? error.message : 'the value could not be read'
    return { ok: false, reason: path === '' ? reason : `${reason} (at ${path})`, tooLarge: walker.tooLarge, path }
  }
}

class Walker {
  readonly path: (string | number)[] = []
  tooLarge = false
  readonly #limits: ParseLimits
  readonly #open = new Set<object>()
  #bytes = 0

  constructor(limits: ParseLimits) {
    this.#limits = limits
  }

  copy(value: unknown, depth: number): JsonValue {
    switch (typeof value) {
      case 'boolean':
        this.#count(value ? 4 : 5)
        return value
      case 'string':
        return this.#string(value)
      case 'number':
        return this.#number(value)
      case 'object':
        if (value !== null) return this.#container(value, depth + 1)
        this.#count(4)
        return null
      default:
        throw new Refusal(`${typeof value} is not JSON`)
    }
  }

  #string(text: string): string {
    // Before it is written out: a string of a gigabyte must not be copied to learn that it is too large.
    if (text.length > this.#limits.maxBytes) this.#count(text.length)
    if (!text.isWellFormed()) throw new Refusal('half of a surrogate pair (\\ud800 to \\udfff) stands alone in a string')
    this.#count(utf8Length(JSON.stringify(text)))
    return text
  }

  #number(value: number): number {
    if (!Number.isFinite(value)) throw new Refusal(`${value} is not JSON`)
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw new Refusal(`the number ${value} is beyond ±${Number.MAX_SAFE_INTEGER}`)
    this.#count(String(value).length)
    return value === 0 ? 0 : value
  }

  #container(value: object, depth: number): JsonValue[] | JsonObject {
    if (this.#open.has(value)) throw new Refusal('the value contains itself')
    if (depth > this.#limits.maxDepth) throw new Refusal(`nested deeper than ${this.#limits.maxDepth} levels`)
    this.#open.add(value)
    this.#count(2)
    const copy = Array.isArray(value) ? this.#array(value, depth) : this.#object(value, depth)
    this.#open.delete(value)
    return copy
  }

  #array(array: unknown[], depth: number): JsonValue[] {
    // By index, not by iterator: a hole must be seen as undefined, and an own Symbol.iterator must not run.
    const copy: JsonValue[] = []
    for (let i = 0; i < array.length; i++) {
      if (i > 0) this.#count(1)
      this.path.push(i)
      copy.push(this.copy(array[i], depth))
      this.path.pop()
    }
    return copy
  }

  #object(object: object, depth: number): JsonObject {
    const prototype = Object.getPrototypeOf(object)
    // By shape, not by identity: an object of another realm (a worker's or a test runner's context) has another Object.prototype.
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) throw new Refusal('only plain objects and arrays are JSON')
    const copy: JsonObject = {}
    let first = true
    // Symbols and hidden members are no content, as for JSON.stringify: frameworks hang their own notes on them.
    for (const key of Object.keys(object)) {
      this.path.push(key)
      if (key === '__proto__') throw new Refusal('the key "__proto__" is not allowed')
      this.#string(key)
      this.#count(first ? 1 : 2)
      first = false
      const member: unknown = Reflect.get(object, key)
      const value = this.copy(member, depth)
      if (key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')) {
        throw new Refusal('"constructor" holding "prototype" is not allowed')
      }
      copy[key] = value
      this.path.pop()
    }
    return copy
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= this.#limits.maxBytes) return
    this.tooLarge = true
    throw new Refusal(`larger than ${this.#limits.maxBytes} bytes`)
  }
}
