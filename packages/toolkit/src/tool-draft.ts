import { type Executor, type JsonValue, type PreviewField, type Tool, ToolError } from '@countersign/core'

/** A tool whose place among the others (group, model name) is not settled yet. */
export interface ToolDraft extends Omit<Tool, 'group' | 'modelName'> {
  /** What the tool does beyond what the port shows (a route's method and templates): part of its definition hash. */
  readonly definition: JsonValue
  /** The HTTP method, where a call is one request: its risk may show in it. */
  readonly method?: string
  /** What its source calls it in words, unverified: its risk may show in them. */
  readonly title?: string
}

/** How long a tool may take when its definition does not say. A client has to be heard of again by then. */
const DEFAULT_TIMEOUT_MS: Record<Executor, number> = { server: 15_000, client: 60_000 }

/** Who carries a tool out, and how long that may take. */
export function executorOf(given: {
  executor?: Executor | undefined
  timeoutMs?: number | undefined
}): Pick<Tool, 'executor' | 'timeoutMs'> {
  const { executor = 'server', timeoutMs = DEFAULT_TIMEOUT_MS[executor] } = given
  return { executor, timeoutMs }
}

/**
 * The values that people are shown as those of now, to be compared later. A field that is not there says so. By name: a target may list the
 * members of an object in any order.
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
