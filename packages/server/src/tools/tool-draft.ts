import type { JsonValue, Tool } from '@countersign/core'

/** A tool whose place among the others (group, model name) is not settled yet. */
export interface ToolDraft extends Omit<Tool, 'group' | 'modelName'> {
  /** What the tool does beyond what the port shows (a route's method and templates): part of its definition hash. */
  readonly definition: JsonValue
}

/** How long a tool may take when its definition does not say. */
export const DEFAULT_TIMEOUT_MS = 15_000

/** The words of a tool that has none of its own. */
export function plainDescription(name: string, args: Record<string, unknown>): string {
  const n = Object.keys(args).length
  return `Call ${name} with ${n} ${n === 1 ? 'argument' : 'arguments'}`
}
