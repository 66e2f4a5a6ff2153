import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { operationNames } from './names.ts'
import { textOf } from './parts.ts'
import type { Refs } from './refs.ts'

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'] as const

/** An operation as the document describes it. */
export interface Operation {
  /** The tool's name without its group. */
  name: string
  method: string
  path: string
  operationId: string | undefined
  tags: readonly string[]
  summary: string | undefined
  description: string | undefined
  isDeprecated: boolean
  /** The nodes of the operation and of its path in the document. */
  node: JsonObject
  pathItem: JsonObject
}

/** A part of a document that yields no tool, with the reason. */
export interface LeftOut {
  /** `GET /pets`. */
  operation: string
  /** Continues a sentence that begins with the operation. */
  reason: string
}

/** Returns all operations of a document in its order, and as `leftOut` those that cannot be read. */
export function listOperations(root: JsonObject, refs: Refs): { operations: Operation[]; leftOut: LeftOut[] } {
  const leftOut: LeftOut[] = []
  const found: Omit<Operation, 'name'>[] = []
  for (const [path, written] of Object.entries(isObject(root.paths) ? root.paths : {})) {
    if (path.startsWith('x-')) continue
    try {
      const pathItem = isObject(written) && written.$ref !== undefined ? besideRef(written, refs) : written
      if (!isObject(pathItem)) leftOut.push({ operation: path, reason: 'is not an object' })
      else found.push(...operationsOf(path, pathItem, refs, leftOut))
    } catch (error) {
      leftOut.push({ operation: path, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  const names = operationNames(found)
  return { operations: found.map((operation, index) => ({ name: names[index] ?? '', ...operation })), leftOut }
}

/** Returns the referenced path item, merged with the members beside the reference. */
function besideRef(written: JsonObject, refs: Refs): JsonObject {
  const { $ref: _, ...own } = written
  const target = refs.follow(written)
  return isObject(target) ? { ...target, ...own } : own
}

function operationsOf(path: string, pathItem: JsonObject, refs: Refs, leftOut: LeftOut[]): Omit<Operation, 'name'>[] {
  if (pathItem.trace !== undefined) leftOut.push({ operation: `TRACE ${path}`, reason: 'is not called: its answer tells what was sent' })
  return METHODS.flatMap((key) => {
    const written = pathItem[key]
    if (written === undefined) return []
    const method = key.toUpperCase()
    let node: JsonValue | undefined
    try {
      // The standard does not allow a reference here, but documents in several files use it.
      node = refs.follow(written)
    } catch (error) {
      leftOut.push({ operation: `${method} ${path}`, reason: error instanceof Error ? error.message : String(error) })
      return []
    }
    if (!isObject(node)) {
      leftOut.push({ operation: `${method} ${path}`, reason: 'is not an object' })
      return []
    }
    const { operationId, tags, summary, description, deprecated } = node
    return [
      {
        method,
        path,
        operationId: typeof operationId === 'string' && operationId !== '' ? operationId : undefined,
        tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
        summary: textOf(summary) ?? textOf(pathItem.summary),
        description: textOf(description) ?? textOf(pathItem.description),
        isDeprecated: deprecated === true,
        node,
        pathItem,
      },
    ]
  })
}
