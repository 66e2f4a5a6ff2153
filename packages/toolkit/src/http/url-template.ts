import { type JsonObject, type JsonValue, ToolError } from '@countersign/core'
import type { Finding } from '../schema/issues.ts'
import { placeholderValue, readsResult, readTemplate, type Template } from './template.ts'

const MAX_VALUE_CHARACTERS = 1_000
/** A value still encoded after this many decodings was made to get past a check. */
const MAX_DECODINGS = 4
/** The characters of a correct path; its author must percent-encode all others. */
const PATH_LITERAL = /^[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}\p{Default_Ignorable_Code_Point}]/u
const ONLY_DOTS = /^[.\s]+(;|$)/

/**
 * Reads a path template such as `/api/orders/{orderId}/status`.
 * @throws Error in plain words when it does not start with a slash, or holds a query, a dot segment or an unencoded character.
 */
export function readPathTemplate(text: string): Template {
  const template = readTemplate(text)
  if (readsResult(template)) throw new Error('cannot use {result.…}: there is no answer yet')
  if (!text.startsWith('/') || text.startsWith('//')) throw new Error('must start with one slash')
  for (const part of template.parts) {
    if (typeof part !== 'string' || PATH_LITERAL.test(part)) continue
    throw new Error(
      part.includes('?') ? 'must not hold a query: declare it under "query"' : 'holds a character that must be percent-encoded',
    )
  }
  const sample = template.parts.map((part) => (typeof part === 'string' ? part : 'x')).join('')
  if (sample.includes('//')) throw new Error('has an empty segment')
  if (new URL(`http://host${sample}`).pathname !== sample) throw new Error('holds a dot segment or a badly encoded character')
  return template
}

/**
 * Why a value cannot stand in a path, or undefined when it can. A value is one segment, whatever the service behind it decodes,
 * normalises or strips: so separators, dot segments and invisible characters are refused in every form they can be written in.
 */
export function pathValueFault(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null || typeof value === 'object')
    return 'must be text, a number or true/false: it is part of a path'
  let text = String(value)
  if (text.length > MAX_VALUE_CHARACTERS) return `must have at most ${MAX_VALUE_CHARACTERS} characters: it is part of a path`
  for (let decodings = 0; ; decodings++) {
    const fault = segmentFault(text) ?? segmentFault(text.normalize('NFKC'))
    if (fault !== undefined) return `${fault}: it is part of a path`
    const decoded = decodeOnce(text)
    if (decoded === undefined) return 'must not hold broken percent-encoding: it is part of a path'
    if (decoded === text) return undefined
    if (decodings === MAX_DECODINGS) return 'must not be percent-encoded many times over: it is part of a path'
    text = decoded
  }
}

function segmentFault(text: string): string | undefined {
  if (text.trim() === '') return 'must not be empty'
  if (!text.isWellFormed()) return 'must be well-formed text'
  if (/[/\\]/.test(text)) return 'must not hold a slash'
  if (INVISIBLE.test(text)) return 'must not hold control or invisible characters'
  if (ONLY_DOTS.test(text)) return 'must not be made of dots'
  return undefined
}

/** One round of what a server might do to a segment: `%2e`, and the `%u002e` that some still read. Undefined for bytes that are not UTF-8. */
function decodeOnce(text: string): string | undefined {
  try {
    return text
      .replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replace(/(?:%[0-9a-f]{2})+/gi, (run) => decodeURIComponent(run))
  } catch {
    return undefined
  }
}

/** The findings about the arguments that a path template would put into a path. */
export const pathFindings = (template: Template, args: JsonObject): Finding[] =>
  template.parts.flatMap((part) => {
    if (typeof part === 'string') return []
    const words = pathValueFault(placeholderValue(part, args))
    return words === undefined ? [] : [{ path: [part.name], words }]
  })

/** Fills a template of a URL: every value percent-encoded as part of one segment. Undefined when a value may not stand there. */
export function fillUrlText(template: Template, args: JsonObject, result?: JsonValue): string | undefined {
  const pieces = template.parts.map((part) => {
    if (typeof part === 'string') return part
    const value = placeholderValue(part, args, result)
    return pathValueFault(value) === undefined ? encodeURIComponent(String(value)) : undefined
  })
  return pieces.includes(undefined) ? undefined : pieces.join('')
}

/**
 * The URL of a call: the base's origin and path, then the filled template, then the query.
 * @throws ToolError `broken` when a value may not stand in the path, or the result is not exactly what the template says.
 */
export function buildUrl(base: URL, template: Template, args: JsonObject, query?: URLSearchParams): URL {
  const filled = fillUrlText(template, args)
  if (filled === undefined) throw new ToolError('broken', `A value cannot stand in the path ${template.text}. Nothing was sent.`)
  const path = base.pathname.replace(/\/+$/, '') + filled
  const url = new URL(base.origin + path)
  if (query) url.search = query.toString()
  // The URL parser normalises: whatever it changed is a way out of the template that the checks above do not know of.
  if (url.origin !== base.origin || url.pathname !== path || url.hash !== '') {
    throw new ToolError('broken', `The address does not have the shape of ${template.text}. Nothing was sent.`)
  }
  return url
}
