import type { Schema } from './schema.ts'

/** Beyond this, a bound is that of a number type and says nothing to people: 9007199254740991, 2147483647. */
const TYPE_BOUNDS = new Set([2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 2 ** 64])

const meant = (bound: number | undefined): number | undefined =>
  bound === undefined || !Number.isFinite(bound) || TYPE_BOUNDS.has(Math.abs(bound)) || Math.abs(bound) > 2 ** 53 ? undefined : bound

/** The bound that a person is held to; undefined where it is only that of the number's type. */
export const boundOf = meant

/**
 * Returns the label of a field: its title, else its name in words.
 * @example
 * labelOf('newStatus', {}) // 'New status'
 * labelOf('customer_id', {}) // 'Customer id'
 */
export function labelOf(name: string, { title }: Pick<Schema, 'title'>): string {
  if (title !== undefined && title.trim() !== '') return title
  const words = name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
  // A name in capitals, an abbreviation or something that is no name stays as it is.
  if (words === '' || !/^\p{L}/u.test(words)) return name
  return words
    .split(/\s+/)
    .map((word, at) => (at === 0 ? word.charAt(0).toUpperCase() + word.slice(1) : /^\p{Lu}{2,}$/u.test(word) ? word : word.toLowerCase()))
    .join(' ')
}

/** Describes the bounds of a value in words. Returns an empty text when the schema sets none that says something. */
export function boundsText({ minimum, maximum, minLength, maxLength, minItems, maxItems }: Schema): string {
  return [
    range(minimum, maximum, ''),
    // Nearly every text must not be empty: the server refuses an empty one.
    range(minLength === 1 ? undefined : minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' entries'),
  ]
    .filter((text) => text !== '')
    .join(', ')
}

function range(from: number | undefined, to: number | undefined, unit: string): string {
  const [min, max] = [meant(from), meant(to)]
  const text = (bound: number) => bound.toLocaleString()
  if (min !== undefined && max !== undefined) return `${text(min)} to ${text(max)}${unit}`
  if (min !== undefined) return `at least ${text(min)}${unit}`
  return max === undefined ? '' : `at most ${text(max)}${unit}`
}

/** Returns the value that the tool uses when none is given; empty when the schema does not say. */
export const defaultText = ({ default: value }: Pick<Schema, 'default'>): string =>
  value === undefined ? '' : `Default: ${typeof value === 'string' ? value : JSON.stringify(value)}`
