import type { JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { z } from 'zod'
import type { Finding } from './issues.ts'

type Path = readonly PropertyKey[]

/**
 * Returns the members that a Zod schema would drop in silence, at any depth: those that an object neither names nor is declared to take.
 * What a preprocessing step reads is its own matter, and not looked into.
 * @param given What the schema accepts.
 */
export const unnamedMembers = (schema: z.core.$ZodType, given: JsonValue): Finding[] =>
  unnamed(schema, given, []).map((path) => ({ path, words: 'is not known here' }))

function unnamed(schema: z.core.$ZodType, given: JsonValue, path: Path): Path[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object':
      return isObject(given) ? Object.entries(given).flatMap(([key, member]) => ofMember(def, key, member, [...path, key])) : []
    case 'array':
      return ofList(given, path, () => def.element)
    case 'tuple':
      return ofList(given, path, (at) => def.items[at] ?? def.rest ?? undefined)
    case 'record':
      return isObject(given) ? Object.entries(given).flatMap(([key, member]) => unnamed(def.valueType, member, [...path, key])) : []
    case 'union': {
      // As Zod chooses: the first that accepts it.
      const taken = def.options.find((option) => z.safeParse(option, given).success)
      return taken ? unnamed(taken, given, path) : []
    }
    case 'intersection': {
      const right = new Set(unnamed(def.right, given, path).map((one) => JSON.stringify(one)))
      return unnamed(def.left, given, path).filter((one) => right.has(JSON.stringify(one)))
    }
    case 'optional':
    case 'nullable':
    case 'nonoptional':
    case 'default':
    case 'prefault':
    case 'readonly':
      return unnamed(def.innerType, given, path)
    case 'lazy':
      return unnamed(def.getter(), given, path)
    default:
      return []
  }
}

function ofMember({ shape, catchall }: z.core.$ZodObjectDef, key: string, member: JsonValue, path: Path): Path[] {
  const named = Object.hasOwn(shape, key) ? shape[key] : catchall
  return named ? unnamed(named, member, path) : [path]
}

const ofList = (given: JsonValue, path: Path, schemaAt: (at: number) => z.core.$ZodType | undefined): Path[] =>
  !Array.isArray(given)
    ? []
    : given.flatMap((entry, at) => {
        const schema = schemaAt(at)
        return schema ? unnamed(schema, entry, [...path, at]) : []
      })
