import { type Executor, type JsonValue, type PreviewField, type Tool, ToolError } from '@countersign/core'

/** A tool whose place among the others (group, model name) is not settled yet. */
export interface ToolDraft extends Omit<Tool, 'group' | 'modelName'> {
  /** Further facts that the definition hash covers (a route's method and templates). */
  readonly definition: JsonValue
  /** The HTTP method, where a call is one request: its risk may show in it. */
  readonly method?: string
  /** The title from its source, unverified. The risk may follow from it. */
  readonly title?: string
}

/** The default time limit of a tool. A client has to report its result within it. */
const DEFAULT_TIMEOUT_MS: Record<Executor, number> = { server: 15_000, client: 60_000 }

/** Returns who executes a tool, and its timeout. */
export function executorOf(given: {
  executor?: Executor | undefined
  timeoutMs?: number | undefined
}): Pick<Tool, 'executor' | 'timeoutMs'> {
  const { executor = 'server', timeoutMs = DEFAULT_TIMEOUT_MS[executor] } = given
  return { executor, timeoutMs }
}

/**
 * Returns the current values on the card, to be compared later, sorted by name because a target may list the members of an object in any
 * order. A missing field is marked as missing.
 */
export const valuesOf = (fields: readonly PreviewField[]): { field: string; value?: JsonValue }[] =>
  fields
    .map(({ field, oldValue }): { field: string; value?: JsonValue } => (oldValue === undefined ? { field } : { field, value: oldValue }))
    .sort((a, b) => (a.field === b.field ? 0 : a.field < b.field ? -1 : 1))

/** Stands for the code of a tool that a client carries out, which the server never runs. */
export const byClient = (name: string) => async (): Promise<never> => {
  throw new ToolError('broken', `${name} is carried out by a client. Nothing was sent.`)
}

/** The words of a tool that has none of its own. */
export function plainDescription(name: string, args: Record<string, unknown>): string {
  const n = Object.keys(args).length
  return `Call ${name} with ${n} ${n === 1 ? 'argument' : 'arguments'}`
}
