import { ToolError } from '@countersign/core'
import { definePlannedWrite, type PlannedWrite, type ToolDraft } from '@countersign/toolkit'
import type { z } from 'zod'
import { Fault, orRefuse, TimedOut } from './fault.ts'
import type { Workspace } from './workspace.ts'

/** A tool without the members that its source adds. */
export type WorkspaceTool = Omit<ToolDraft, 'destination' | 'definition'>

/** Defines a write tool of the workspace. Attempts run one after another. A fault means that nothing was changed. */
export function writeTool<Input extends z.ZodObject, Plan>(
  workspace: Workspace,
  write: Omit<PlannedWrite<z.output<Input>, Plan>, 'run'> & { input: Input },
): WorkspaceTool {
  const {
    secrets: _,
    preview,
    ...tool
  } = definePlannedWrite<Input, Plan>({
    ...write,
    run: (attempt) => workspace.inTurn(() => orRefuse(attempt)),
  })
  return { ...tool, preview: (args, signal) => inTime(preview(args, signal), signal).catch(cannot) }
}

/**
 * Refuses a preview whose time ends. Its card would show nothing of the change, and the change would be held against nothing when it starts:
 * a commit would have whatever is there by then.
 */
async function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const timedOut = Promise.withResolvers<never>()
  const onAbort = () => timedOut.reject(new TimedOut('What it would change could not be read in time. Try again, or change less at once.'))
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([timedOut.promise, work])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/**
 * Throws the error of a failed preview. A fault means that the call is impossible, so it needs no decision; one of time is so only for now.
 * Other errors are rethrown unchanged.
 */
function cannot(error: unknown): never {
  if (!(error instanceof Fault)) throw error
  throw new ToolError('refused', error.message, { impossible: true, retryable: error instanceof TimedOut })
}
