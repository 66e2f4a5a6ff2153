import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject, openPatternBudget, patternCost, patternsIn, TOO_COSTLY } from '@countersign/toolkit/internal'
import { BrokenPart } from './parts.ts'

/** A document with its references followed where they are asked for: nothing is copied, so circles do no harm. */
export interface Refs {
  /** What a reference leads to. @throws BrokenPart when it leads nowhere. */
  at(ref: string): JsonValue
  /** The value itself, or what it refers to, over any number of references. @throws BrokenPart */
  follow(value: JsonValue | undefined): JsonValue | undefined
  /**
   * Visits all of a schema over its references, each part once over the life of this object.
   * @throws BrokenPart for the first reference that leads nowhere, the first type that is none and the first pattern that is too costly.
   */
  prove(schema: JsonValue | undefined): void
  /** True for a pattern that is more than the patterns of one document may cost. The cheaper ones are served first. */
  isTooCostly(pattern: string): boolean
}

const MAX_CHAIN = 50
/** Below these nothing is a schema: a `$ref` in there is somebody's text. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const', 'discriminator', 'xml', 'externalDocs', 'required'])
/** Below these every name stands for a schema. */
const MAPS = new Set(['properties', 'patternProperties'])
/** `file` is Swagger 2.0's own. */
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null', 'file'])

/** @param unread Why files that the document refers to could not be read, by what their references begin with. */
export function createRefs(root: JsonObject, unread: readonly string[] = []): Refs {
  const sound = new Set<JsonValue>()
  const broken = new Map<JsonValue, BrokenPart>()
  const tooCostly = costlyPatterns(root)

  function at(ref: string): JsonValue {
    if (!ref.startsWith('#')) throw new BrokenPart(`refers to ${ref}, which could not be read${unread.length > 0 ? `: ${unread[0]}` : ''}`)
    let node: JsonValue | undefined = root
    for (const token of ref === '#' ? [] : ref.slice(1).split('/').slice(1)) {
      const key = decode(token, ref).replaceAll('~1', '/').replaceAll('~0', '~')
      // A path may lead through a reference.
      node = follow(node)
      node = node !== null && typeof node === 'object' && Object.hasOwn(node, key) ? (node as JsonObject)[key] : undefined
      if (node === undefined) break
    }
    if (node === undefined || (ref !== '#' && !ref.startsWith('#/'))) throw new BrokenPart(`refers to ${ref}, which is not there`)
    return node
  }

  function follow(value: JsonValue | undefined): JsonValue | undefined {
    let found = value
    for (let links = 0; isObject(found) && typeof found.$ref === 'string'; links++) {
      if (links === MAX_CHAIN) throw new BrokenPart(`refers to ${found.$ref}, which refers back to itself`)
      found = at(found.$ref)
    }
    return found
  }

  function prove(value: JsonValue | undefined, isMap = false): void {
    if (value === null || typeof value !== 'object' || sound.has(value)) return
    const known = broken.get(value)
    if (known) throw known
    sound.add(value)
    try {
      if (isObject(value) && typeof value.$ref === 'string') prove(at(value.$ref))
      if (!isMap && isObject(value)) {
        requireTypes(value)
        if (typeof value.pattern === 'string' && tooCostly.has(value.pattern)) throw new BrokenPart(TOO_COSTLY)
      }
      for (const [key, child] of Object.entries(value)) {
        if (isMap || !(DATA.has(key) || key.startsWith('x-'))) prove(child, !isMap && MAPS.has(key))
      }
    } catch (error) {
      sound.delete(value)
      if (error instanceof BrokenPart) broken.set(value, error)
      throw error
    }
  }

  return { at, follow, prove: (value) => prove(value), isTooCostly: (pattern) => tooCostly.has(pattern) }
}

function decode(token: string, ref: string): string {
  try {
    return decodeURIComponent(token)
  } catch {
    throw new BrokenPart(`refers to ${ref}, which is not an address`)
  }
}

function requireTypes({ type }: JsonObject): void {
  const types = Array.isArray(type) ? type : type === undefined || type === null ? [] : [type]
  const wrong = types.find((name) => typeof name !== 'string' || !TYPES.has(name))
  if (wrong !== undefined) throw new BrokenPart(`has a schema with the type ${JSON.stringify(wrong)}, which is none`)
}

/** The patterns of a document that do not fit its budget: an operation with a costly one takes nothing from the others. */
function costlyPatterns(root: JsonObject): ReadonlySet<string> {
  const budget = openPatternBudget()
  const all = [...patternsIn(root)].map((pattern) => ({ pattern, cost: patternCost(pattern) })).sort((a, b) => a.cost - b.cost)
  return new Set(all.filter(({ pattern }) => !budget.take([pattern])).map(({ pattern }) => pattern))
}
