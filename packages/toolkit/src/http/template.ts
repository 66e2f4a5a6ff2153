import type { JsonObject, JsonValue } from '@countersign/core'
import { asTitle } from '../headline.ts'

/**
 * A piece of a template: fixed text, or a placeholder for the input property `name`. `{result.id}` is a member of the answer (`of` is
 * `result`), `{before.customer.name}` one of what was read before (`of` is `before`).
 */
export type TemplatePart = string | { of: 'input' | 'result' | 'before'; name: string; path: readonly string[] }

/** A text with placeholders, read once. */
export interface Template {
  readonly text: string
  readonly parts: readonly TemplatePart[]
  /** From which part to before which one the words vanish when a value in them is missing or empty. Only in words for people. */
  readonly optional?: readonly (readonly [number, number])[]
}

const PIECE = /\{\{|\}\}|\{(?<name>[A-Za-z_$][\w$-]*)\}|\{(?<of>result|before)\.(?<path>[\w-]+(?:\.[\w-]+)*)\}|[{}]/g

/**
 * Reads a template: `{orderId}` stands for an input property, `{result.id}` for a member of the answer, `{{` and `}}` for braces.
 * @param readsBefore Whether `{before.name}` is allowed, for a member of what is read before.
 * @throws Error in plain words for a brace that is none of these.
 * @example
 * readTemplate('Set order {orderId} to {newStatus}').parts.length // 4
 */
export function readTemplate(text: string, readsBefore = false): Template {
  const parts: TemplatePart[] = []
  let literal = ''
  let end = 0
  for (const match of text.matchAll(PIECE)) {
    literal += text.slice(end, match.index)
    end = match.index + match[0].length
    const { name, of, path } = match.groups ?? {}
    if (name === undefined && path === undefined) {
      if (match[0].length === 1) throw new Error(`has a lone "${match[0]}": write {name} for a value, {{ and }} for braces`)
      literal += match[0].slice(1)
      continue
    }
    if (literal !== '') parts.push(literal)
    literal = ''
    if (of === 'before' && !readsBefore) throw new Error('cannot use {before.…}: only describe can, where before says what is read')
    const source = of === 'before' ? 'before' : 'result'
    parts.push(name !== undefined ? { of: 'input', name, path: [] } : { of: source, name: source, path: path?.split('.') ?? [] })
  }
  literal += text.slice(end)
  if (literal !== '' || parts.length === 0) parts.push(literal)
  return { text, parts }
}

const BRACKET = /\[\[|\]\]|[[\]]/g

/**
 * Reads words for people: a template in which `[…]` holds what vanishes when a value in it is missing or empty. `[[` and `]]` are brackets.
 * @throws Error like {@link readTemplate}; for a bracket without its other half, inside another one, or around no value; for a `{before.…}`
 * outside of `[…]`: where nothing could be read, no words may depend on it.
 * @example
 * fillWords(readWords('Place an order[ for {customer}]'), {}) // 'Place an order'
 */
export function readWords(text: string, readsBefore = false): Template {
  const parts: TemplatePart[] = []
  const optional: [number, number][] = []
  let piece = ''
  let end = 0
  let opened: number | undefined
  const flush = () => {
    if (piece !== '') parts.push(...readTemplate(piece, readsBefore).parts)
    piece = ''
  }
  for (const { 0: found, index } of text.matchAll(BRACKET)) {
    piece += text.slice(end, index)
    end = index + found.length
    if (found.length === 2) piece += found[0]
    else if ((found === '[') === (opened !== undefined))
      throw new Error(`has a lone "${found}": write [words with {name}], [[ and ]] for brackets`)
    else if (opened === undefined) {
      flush()
      opened = parts.length
    } else {
      flush()
      if (!parts.slice(opened).some((part) => typeof part !== 'string'))
        throw new Error('has a [ ] without a {name}: nothing decides when it vanishes')
      optional.push([opened, parts.length])
      opened = undefined
    }
  }
  if (opened !== undefined) throw new Error('has a lone "[": write [words with {name}], [[ and ]] for brackets')
  piece += text.slice(end)
  flush()
  const vanishes = (at: number) => optional.some(([from, to]) => from <= at && at < to)
  if (parts.some((part, at) => typeof part !== 'string' && part.of === 'before' && !vanishes(at)))
    throw new Error('has {before.…} outside of [ ]: write [ of {before.name}], which vanishes where nothing was read')
  return { text, parts, optional }
}

/** The input properties a template names. */
export const namesIn = (template: Template): string[] =>
  template.parts.flatMap((part) => (typeof part !== 'string' && part.of === 'input' ? [part.name] : []))

/** True when a template reads the answer. */
export const readsResult = (template: Template): boolean => template.parts.some((part) => typeof part !== 'string' && part.of === 'result')

/** True when words name what is read before. */
export const namesBefore = (template: Template): boolean => template.parts.some((part) => typeof part !== 'string' && part.of === 'before')

/** The value of a placeholder, or undefined when it is absent. Own members only: `{constructor}` is nothing. */
export function placeholderValue(part: Exclude<TemplatePart, string>, args: JsonObject, answer?: JsonValue): JsonValue | undefined {
  return part.of === 'input' ? member(args, part.name) : part.path.reduce(member, answer)
}

/** An own member of an object or list, or undefined. */
export function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined
  return (value as JsonObject)[key]
}

/** A value inside a text: strings as they are, everything else as JSON. */
export const asText = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))

const MAX_VALUE_CHARACTERS = 200

const isEmpty = (value: JsonValue | undefined): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/**
 * Fills a template meant for people. Optional words disappear with their value; elsewhere an absent value reads `(none)`. A long value is
 * cut with the number of missing characters.
 * @param before What was read before. Its texts are put in quotes, in one line of at most 80 characters, because others wrote them. Values
 * that are neither text, number nor boolean count as missing: the order of their members would mean nothing.
 */
export function fillWords(template: Template, args: JsonObject, before?: JsonValue): string {
  const read = (part: Exclude<TemplatePart, string>): JsonValue | undefined => {
    const value = placeholderValue(part, args, before)
    return part.of === 'before' && typeof value === 'object' ? undefined : value
  }
  const vanishes = (at: number): boolean =>
    (template.optional ?? []).some(
      ([from, to]) =>
        from <= at && at < to && template.parts.slice(from, to).some((part) => typeof part !== 'string' && isEmpty(read(part))),
    )
  return template.parts
    .filter((_, at) => !vanishes(at))
    .map((part) => {
      if (typeof part === 'string') return part
      const value = read(part)
      if (part.of === 'before' && typeof value === 'string') return asTitle(value)
      const text = value === undefined ? '(none)' : asText(value)
      const rest = text.length - MAX_VALUE_CHARACTERS
      return rest > 0 ? `${text.slice(0, MAX_VALUE_CHARACTERS).toWellFormed()}… (${rest} more characters)` : text
    })
    .join('')
}

/** A JSON value whose strings are templates, read once. */
export type JsonTemplate = { text: Template } | { list: JsonTemplate[] } | { members: [string, JsonTemplate][] } | { value: JsonValue }

/** Reads a body template. Keys are fixed. @throws Error like {@link readTemplate}. */
export function readJsonTemplate(value: JsonValue): JsonTemplate {
  if (typeof value === 'string') return { text: readTemplate(value) }
  if (value === null || typeof value !== 'object') return { value }
  if (Array.isArray(value)) return { list: value.map(readJsonTemplate) }
  return { members: Object.entries(value).map(([key, child]) => [key, readJsonTemplate(child)]) }
}

/** All text templates inside. */
export function textsIn(template: JsonTemplate): Template[] {
  if ('text' in template) return [template.text]
  if ('list' in template) return template.list.flatMap(textsIn)
  if ('members' in template) return template.members.flatMap(([, child]) => textsIn(child))
  return []
}

/**
 * Fills a body template. A string that is one placeholder keeps the value's type; inside a text the value is inserted as text. Parts that
 * depend on an absent value are left out, up to the member or list entry that contains them. Undefined when nothing is left.
 */
export function fillJson(template: JsonTemplate, args: JsonObject): JsonValue | undefined {
  if ('value' in template) return template.value
  if ('text' in template) return fillText(template.text, args)
  if ('list' in template) return template.list.map((child) => fillJson(child, args)).filter((child) => child !== undefined)
  const filled = template.members.flatMap(([key, child]): [string, JsonValue][] => {
    const value = fillJson(child, args)
    return value === undefined ? [] : [[key, value]]
  })
  return Object.fromEntries(filled)
}

function fillText({ parts }: Template, args: JsonObject): JsonValue | undefined {
  const [only] = parts
  if (parts.length === 1 && only !== undefined && typeof only !== 'string') return placeholderValue(only, args)
  const pieces = parts.map((part) => (typeof part === 'string' ? part : placeholderValue(part, args)))
  // Half a sentence must not be sent: a text with a missing value is missing as a whole.
  return pieces.includes(undefined) ? undefined : pieces.map((piece) => asText(piece ?? null)).join('')
}
