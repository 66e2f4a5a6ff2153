import { isDeepStrictEqual } from 'node:util'
import type { JsonValue, PreviewField } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { Pin } from '@countersign/toolkit'
import type { McpDefinition, SeenDefinition } from './definitions.ts'

/** A tool of a server, with the definition that was last accepted if it differs. */
export interface PinnedTool extends SeenDefinition {
  /** The pinned definition. Set when the server now lists another one. */
  was?: SeenDefinition
}

/** Compares the listed tools with the pins. A tool without a pin is accepted as listed. */
export function againstPins(seen: readonly SeenDefinition[], pins: ReadonlyMap<string, SeenDefinition>): PinnedTool[] {
  return seen.map((one) => {
    const was = pins.get(one.definition.name)
    return was && was.hash !== one.hash ? { ...one, was } : one
  })
}

export const toPin = ({ definition, hash }: SeenDefinition): Pin => ({
  tool: definition.name,
  hash,
  definition: JSON.stringify(definition),
})

export function readPin({ hash, definition }: Pin): SeenDefinition {
  return { definition: JSON.parse(definition) as McpDefinition, hash }
}

const MAX_FIELDS = 30

/** Returns one preview field for each part of the definition that changed. */
export function whatIsOther(was: McpDefinition, now: McpDefinition): PreviewField[] {
  const fields: PreviewField[] = []
  compare('the tool’s title', was.title, now.title, fields)
  compare('the tool’s description', was.description, now.description, fields)
  compare('the tool’s arguments', was.inputSchema, now.inputSchema, fields)
  compare('the tool’s annotations', was.annotations, now.annotations, fields)
  compare('the tool as a task', was.taskSupport, now.taskSupport, fields)
  // The change is in a part of the description that was cut or in the output schema. The card shows neither.
  return fields.length > 0
    ? fields
    : [{ field: 'the tool’s definition', oldValue: 'as first seen', newValue: 'changed where it is not shown' }]
}

function compare(field: string, was: JsonValue | undefined, now: JsonValue | undefined, fields: PreviewField[]): void {
  if (fields.length === MAX_FIELDS || isDeepStrictEqual(was, now)) return
  if (isObject(was) && isObject(now)) {
    for (const key of new Set([...Object.keys(was), ...Object.keys(now)])) compare(`${field}, ${key}`, was[key], now[key], fields)
    return
  }
  fields.push({ field, ...(was !== undefined && { oldValue: was }), ...(now !== undefined && { newValue: now }) })
}
