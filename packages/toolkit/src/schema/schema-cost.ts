import type { JsonSchema, JsonValue } from '@countersign/core'
import { NAMED_SCHEMAS } from './keywords.ts'
import { openPatternBudget, type PatternBudget, patternsIn, TOO_COSTLY } from './pattern-cost.ts'
import { resolveRef } from './resolve-ref.ts'

const MAX_SCHEMA_LEVELS = 40

/** References followed from the top; a schema that refers to itself is looked at this deep. */
const MAX_REFERENCES = 24
/** Subschemas that one value may be held against. */
const MAX_CHECKS_PER_VALUE = 5_000

/** Keywords whose subschemas are all held against the value itself. */
const OF_THE_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies']
/** Keywords whose subschemas are held against members of the value: what they cost is not added up for one value. */
const OF_MEMBERS = [
  'properties',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
  'items',
  'prefixItems',
  'additionalItems',
  'contains',
  'unevaluatedItems',
  'unevaluatedProperties',
]

/**
 * Why a schema is not one to hold arguments against: it is nested too deep, its patterns take too long to read, or its
 * references multiply each other, so that a small value would be checked for ever. Undefined when it is fine.
 * @param budget What the patterns of its server or group may still cost; default: those of this schema alone.
 */
export function costFault(schema: JsonSchema, budget: PatternBudget = openPatternBudget()): string | undefined {
  if (levelsOf(schema, 0) > MAX_SCHEMA_LEVELS) return `is nested more than ${MAX_SCHEMA_LEVELS} levels deep`
  const cost = costOf(schema, schema, 0, new Map())
  if (cost > MAX_CHECKS_PER_VALUE) return 'has references that multiply each other'
  return budget.take(patternsIn(schema)) ? undefined : TOO_COSTLY
}

function levelsOf(value: JsonValue | undefined, level: number): number {
  if (value === null || typeof value !== 'object' || level > MAX_SCHEMA_LEVELS) return level
  return Math.max(level, ...Object.values(value).map((child) => levelsOf(child, level + 1)))
}

type Known = Map<JsonValue, Map<number, number>>

/** How many subschemas a value is held against at most, or the most that a member of it is. */
function costOf(root: JsonSchema, node: JsonValue | undefined, references: number, known: Known): number {
  if (node === null || node === undefined || typeof node !== 'object' || references > MAX_REFERENCES) return 1
  const before = known.get(node)?.get(references)
  if (before !== undefined) return before
  const cost = (child: JsonValue | undefined, more = 0) => costOf(root, child, references + more, known)
  const children = (keyword: string): JsonValue[] => {
    const value = Array.isArray(node) ? undefined : node[keyword]
    if (value === null || typeof value !== 'object') return []
    return isSchemaItself(keyword) && !Array.isArray(value) ? [value] : Object.values(value)
  }
  let own = 1
  const { $ref } = Array.isArray(node) ? {} : node
  if (typeof $ref === 'string') own += cost(resolveRef(root, $ref), 1)
  for (const keyword of OF_THE_VALUE) for (const child of children(keyword)) own = Math.min(own + cost(child), MAX_CHECKS_PER_VALUE + 1)
  const members = OF_MEMBERS.flatMap(children).map((child) => cost(child))
  const all = Math.max(own, ...members)
  const places = known.get(node) ?? new Map<number, number>()
  known.set(node, places.set(references, all))
  return all
}

/** Keywords that hold one schema, not a list or a record of them. */
const isSchemaItself = (keyword: string): boolean =>
  !['allOf', 'anyOf', 'oneOf', 'prefixItems'].includes(keyword) && !NAMED_SCHEMAS.has(keyword)
