import type { JsonObject, JsonValue, PreviewField } from '@countersign/core'
import { isMethodOverride } from '../http/name-spellings.ts'
import { fillJson, member, namesIn, textsIn } from '../http/template.ts'
import type { Finding } from '../schema/issues.ts'
import type { ReadRoute } from './route.ts'

/**
 * Returns a row for each value that a creation sends. Query and path may decide more than the body: whose rights are given, where to. Their
 * place is behind a comma, because no row of a body has such a name.
 */
export function creationRows({ path, query, describe }: ReadRoute, args: JsonObject, body: JsonValue | undefined): PreviewField[] {
  // Without words of its own the headline is the path with its values.
  const shown = new Set(describe ? namesIn(describe) : namesIn(path))
  const inPath = [...new Set(namesIn(path))]
    .filter((name) => !shown.has(name))
    .map((name): [string, JsonValue?] => [name, member(args, name)])
  const inQuery = query
    .filter(([, template]) => textsIn(template).some((text) => namesIn(text).length > 0))
    .map(([name, template]): [string, JsonValue?] => [name, fillJson(template, args)])
  return [...rowsAt('path', inPath), ...rowsAt('query', inQuery), ...bodyRows(body)]
}

const rowsAt = (place: string, values: readonly [string, JsonValue?][]): PreviewField[] =>
  values.flatMap(([name, newValue]) => (newValue === undefined ? [] : [{ field: `${name}, ${place}`, newValue }]))

function bodyRows(body: JsonValue | undefined): PreviewField[] {
  if (body === undefined) return []
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return [{ field: 'body', newValue: body }]
  return Object.entries(body).map(([name, newValue]) => ({ field: name.includes(',') ? JSON.stringify(name) : name, newValue }))
}

/**
 * Returns the arguments with which an agent would make a POST another method: Laravel takes it from a member of the body. A name in the route
 * itself is meant.
 * @param sent The body as it is sent.
 */
export function methodFindings({ body, inputSchema }: ReadRoute, sent: JsonValue | undefined): Finding[] {
  if (sent === null || typeof sent !== 'object' || Array.isArray(sent)) return []
  const unsafe = Object.keys(sent).filter(isMethodOverride)
  const words = 'could make it another request'
  if (body.kind === 'rest')
    return unsafe.filter((name) => member(inputSchema.properties, name) === undefined).map((name) => ({ path: [name], words }))
  // The members of a template are fixed, unless it is one argument as a whole.
  const whole = body.kind === 'template' && 'text' in body.template ? namesIn(body.template.text) : []
  return unsafe.flatMap((name) => whole.map((argument) => ({ path: [argument, name], words })))
}
