import { ToolError, type ToolErrorKind } from '@countersign/core'

const KINDS: readonly ToolErrorKind[] = ['refused', 'unreachable', 'ambiguous', 'broken', 'stale']
/** A message is for people and models: what is longer is cut. */
const MAX_MESSAGE_CHARS = 10_000

/** True for a `ToolError` of any copy of its package. */
const isToolError = (error: unknown): error is ToolError => error instanceof Error && error.name === 'ToolError' && 'kind' in error

/**
 * Reads a `ToolError` with values that can be stored, whatever the code of the tool put into it. Undefined for any other error, and for one
 * of an unknown kind: it does not say whether the target acted.
 */
export function readToolError(error: unknown): ToolError | undefined {
  try {
    if (!isToolError(error) || !KINDS.includes(error.kind)) return undefined
    const { kind, message, retryable, impossible, retryAfterMs } = error
    return new ToolError(kind, cut(message), {
      retryable: retryable !== false,
      impossible: impossible === true,
      retryAfterMs: readPause(retryAfterMs),
    })
  } catch {
    // It throws again when it is read.
    return undefined
  }
}

function cut(message: unknown): string {
  const text = typeof message === 'string' ? message : ''
  return text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}…`
}

/** A pause in whole ms. Undefined for what is none: a date that was read as a number is NaN. */
function readPause(ms: unknown): number | undefined {
  const read = typeof ms === 'number' ? Math.ceil(ms) : Number.NaN
  return read > 0 ? Math.min(read, Number.MAX_SAFE_INTEGER) : undefined
}
