import type { JsonSchema, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { type Finding, foldCase, once } from '@countersign/toolkit/internal'

/** The members that some schemas of one value describe, each with its schemas. */
export type DescribedMembers = ReadonlyMap<string, readonly JsonSchema[]>

export const asSchemas = (values: readonly (JsonValue | undefined)[]): JsonSchema[] => values.filter(isObject)

/** Returns the schemas of one value with their parts: all that may apply to it. */
function partsOf(schemas: readonly JsonSchema[]): JsonSchema[] {
  return schemas.flatMap((schema) => {
    const inner = [schema.allOf, schema.anyOf].flatMap((list) => (Array.isArray(list) ? asSchemas(list) : []))
    return [schema, ...partsOf(inner)]
  })
}

export function membersOf(schemas: readonly JsonSchema[]): DescribedMembers {
  const members = new Map<string, JsonSchema[]>()
  for (const { properties } of partsOf(schemas)) {
    for (const [name, schema] of Object.entries(isObject(properties) ? properties : {}))
      members.set(name, [...(members.get(name) ?? []), ...asSchemas([schema])])
  }
  return members
}

/**
 * Returns a function that finds the members whose names differ from described ones in case only. Services on .NET and Go take such a member for
 * the described one, which the limits of the document and the rules of the policy are about.
 * @param schemas Without references, as `inputSchemaOf` makes them.
 */
export function openCaseFindings(schemas: readonly JsonSchema[]): (value: JsonValue, path?: readonly string[]) => Finding[] {
  const parts = partsOf(schemas)
  const members = membersOf(schemas)
  const named = new Map([...members.keys()].map((name) => [foldCase(name), name]))
  const inside = new Map([...members].map(([name, described]) => [name, once(() => openCaseFindings(described))]))
  const others = once(() => openCaseFindings(asSchemas(parts.map(({ additionalProperties }) => additionalProperties))))
  const entries = once(() =>
    openCaseFindings(asSchemas(parts.flatMap(({ items, prefixItems }) => [items, ...(Array.isArray(prefixItems) ? prefixItems : [])]))),
  )
  return (value, path = []) => {
    // Without a schema nothing is described, however deep the value is.
    if (schemas.length === 0 || value === null || typeof value !== 'object') return []
    if (Array.isArray(value)) return value.flatMap((entry, at) => entries()(entry, [...path, String(at)]))
    return Object.entries(value).flatMap(([name, member]): Finding[] => {
      const other = members.has(name) ? undefined : named.get(foldCase(name))
      if (other !== undefined) return [{ path: [...path, name], words: `must be written ${other}: some services take the two for one` }]
      return (inside.get(name) ?? others)()(member, [...path, name])
    })
  }
}
