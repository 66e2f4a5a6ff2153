import * as core from '@countersign/core'
import { z } from 'zod'
import { EVENT_SCHEMAS } from './events.ts'

/** The schemas that a document refers to by name: every wire shape that core exports, and the events of streams. */
export const schemaRegistry = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries({ ...core, ...EVENT_SCHEMAS })) {
  // The document lists the properties of a query one by one.
  if (schema instanceof z.ZodType && !id.endsWith('Query')) schemaRegistry.add(schema, { id })
}

type Schemas = Record<string, unknown>

const REFERENCE = /"#\/components\/schemas\/([^"]+)"/g
const namesIn = (value: unknown): string[] => [...JSON.stringify(value).matchAll(REFERENCE)].map(([, name = '']) => name)

/**
 * Removes the schemas that nothing refers to, and gives every shape one name: requests and responses differ where a value has a default,
 * and then the request's schema is called `<name>Input`; where they are the same, or only one of them is used, it is just `<name>`.
 * @param document Any part of a document that refers to `schemas`.
 */
export function nameOnce<T>(document: T, schemas: Schemas): { document: T; schemas: Schemas } {
  const used = reachable(document, schemas)
  const same = new Map<string, string>()
  for (const name of used) {
    const plain = name.replace(/Input$/, '')
    if (plain === name) continue
    const asOutput = JSON.stringify(schemas[name]).replaceAll(/(\/schemas\/[^"]+?)Input"/g, '$1"')
    if (!used.has(plain) || asOutput === JSON.stringify(schemas[plain])) same.set(name, plain)
  }
  const rename = <V>(value: V): V =>
    JSON.parse(JSON.stringify(value).replaceAll(REFERENCE, (whole, name: string) => whole.replace(name, same.get(name) ?? name)))
  const kept = [...used].map((name): [string, unknown] => [same.get(name) ?? name, rename(schemas[name])])
  return { document: rename(document), schemas: Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1))) }
}

/** Returns the names of all schemas that a value refers to, directly or indirectly. */
function reachable(value: unknown, schemas: Schemas): Set<string> {
  const found = new Set<string>()
  const open = namesIn(value)
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    found.add(name)
    open.push(...namesIn(schemas[name] ?? null))
  }
  return found
}
