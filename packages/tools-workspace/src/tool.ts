import { ToolError } from '@countersign/core'
import { definePlannedWrite, type PlannedWrite, type ToolDraft } from '@countersign/toolkit'
import type { z } from 'zod'
import { Fault, orRefuse } from './fault.ts'
import type { Workspace } from './workspace.ts'

/** A tool without what its place in a source says of it. */
export type WorkspaceTool = Omit<ToolDraft, 'destination' | 'definition'>

/** Defines a tool that changes the workspace. Attempts run one after another, and a fault means that nothing was done. */
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
  return { ...tool, preview: (args, signal) => preview(args, signal).catch(cannot) }
}

/** What a preview throws for a fault: the call cannot be done, so nobody is asked about it. Anything else stays what it is. */
function cannot(error: unknown): never {
  if (!(error instanceof Fault)) throw error
  throw new ToolError('refused', error.message, { impossible: true })
}
