import { matchesGlob } from '@countersign/core'
import type { SetupProblem } from '@countersign/toolkit'
import type { Operation } from './operations.ts'
import type { OpenApiSection, OperationOverride } from './section.ts'

/** An operation that becomes a tool, with its configuration. */
export interface Selected {
  operation: Operation
  override: OperationOverride
}

/** True when a glob matches this operation by operationId, tool name, `METHOD /path` or `tag:name`. */
function fitsOperation(glob: string, { operationId, name, method, path, tags }: Operation): boolean {
  if (glob.startsWith('tag:')) return tags.some((tag) => matchesGlob(glob.slice('tag:'.length), tag))
  return [operationId ?? name, name, `${method} ${path}`].some((text) => matchesGlob(glob, text))
}

const MAX_TAGS = 20

/** The tags to choose from, where a glob for tags fits none. */
function tagsFor(glob: string, operations: readonly Operation[]): string {
  const tags = [...new Set(operations.flatMap((operation) => operation.tags))]
  if (!glob.startsWith('tag:') || tags.length === 0) return ''
  return `; the tags are ${tags.slice(0, MAX_TAGS).join(', ')}${tags.length > MAX_TAGS ? ', …' : ''}`
}

/**
 * Returns the operations that the section selects.
 * @param report Gets every glob that matches no operation: a misspelt one must not silently remove or add a tool.
 */
export function selectOperations(
  operations: readonly Operation[],
  { include, exclude, operations: overrides }: Pick<OpenApiSection, 'include' | 'exclude' | 'operations'>,
  report: (problem: SetupProblem) => void,
): Selected[] {
  const requireFit = (glob: string, path: readonly PropertyKey[]) => {
    if (!operations.some((operation) => fitsOperation(glob, operation)))
      report({ path, message: `"${glob}" fits no operation${tagsFor(glob, operations)}` })
  }
  for (const [index, glob] of include?.entries() ?? []) requireFit(glob, ['include', index])
  for (const [index, glob] of exclude.entries()) requireFit(glob, ['exclude', index])
  for (const glob of Object.keys(overrides)) requireFit(glob, ['operations', glob])
  const fits = (globs: readonly string[], operation: Operation) => globs.some((glob) => fitsOperation(glob, operation))
  return operations
    .filter((operation) => (include === undefined || fits(include, operation)) && !fits(exclude, operation))
    .map((operation) => ({ operation, override: overrideOf(operation, overrides) }))
}

/** Returns the configuration of an operation, whether or not it becomes a tool. If several globs match, the later one takes precedence. */
export function overrideOf(operation: Operation, overrides: OpenApiSection['operations']): OperationOverride {
  const said = Object.entries(overrides).filter(([glob]) => fitsOperation(glob, operation))
  return Object.assign({}, ...said.map(([, override]) => override))
}
