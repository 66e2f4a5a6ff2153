import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { openPatternBudget, patternCost, patternsIn, TOO_COSTLY } from '@countersign/toolkit/internal'
import { BrokenPart } from './parts.ts'

/** Resolves the references of a document on demand. It copies nothing, so cycles are harmless. */
export interface Refs {
  /** Returns the target of a reference. @throws BrokenPart when the target does not exist. */
  at(ref: string): JsonValue
  /** Returns the value itself, or the target of its reference, through any number of references. @throws BrokenPart */
  follow(value: JsonValue | undefined): JsonValue | undefined
  /**
   * Visits a whole schema through its references, each part once in the life of this object.
   * @throws BrokenPart for the first reference without a target, the first invalid type and the first pattern that is too costly.
   */
  prove(schema: JsonValue | undefined): void
  /** True for a pattern that exceeds the document's budget for patterns. Cheaper patterns are admitted first. */
  isTooCostly(pattern: string): boolean
}

const MAX_CHAIN = 50
/** Keywords whose values contain no schemas. A `$ref` in them is data. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const', 'discriminator', 'xml', 'externalDocs', 'required'])
/** Keywords whose values map names to schemas. */
const MAPS = new Set(['properties', 'patternProperties'])
/** The valid types. `file` exists only in Swagger 2.0. */
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null', 'file'])

/** Returns why the file of a reference could not be read, or nothing where several files could not and none of them has its name. */
function reasonOf(ref: string, unread: readonly string[]): string {
  const file = ref.replace(/#.*$/s, '').replace(/^\.\//, '')
  const reason = unread.length === 1 ? unread[0] : unread.find((sentence) => sentence.startsWith(`${file} `))
  return reason === undefined ? '' : `: ${reason}`
}

/** @param unread The reasons why referenced files could not be read. */
export function createRefs(root: JsonObject, unread: readonly string[] = []): Refs {
  const sound = new Set<JsonValue>()
  const broken = new Map<JsonValue, BrokenPart>()
  const tooCostly = costlyPatterns(root)

  function at(ref: string): JsonValue {
    if (!ref.startsWith('#')) throw new BrokenPart(`refers to ${ref}, which could not be read${reasonOf(ref, unread)}`)
    let node: JsonValue | undefined = root
    for (const token of ref === '#' ? [] : ref.slice(1).split('/').slice(1)) {
      const key = decode(token, ref).replaceAll('~1', '/').replaceAll('~0', '~')
      // A path may pass through a reference.
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

/** Returns the patterns of a document that exceed its budget. An operation with a costly pattern takes none of the budget from others. */
function costlyPatterns(root: JsonObject): ReadonlySet<string> {
  const budget = openPatternBudget()
  const all = [...patternsIn(root)].map((pattern) => ({ pattern, cost: patternCost(pattern) })).sort((a, b) => a.cost - b.cost)
  return new Set(all.filter(({ pattern }) => !budget.take([pattern])).map(({ pattern }) => pattern))
}
