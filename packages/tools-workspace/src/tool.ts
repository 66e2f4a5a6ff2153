import { ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { Fault } from './fault.ts'

/** A tool without what its place in a source says of it. */
export type WorkspaceTool = Omit<ToolDraft, 'destination' | 'definition'>

/** What a preview throws for a fault: the call cannot be done, so nobody is asked about it. Anything else stays what it is. */
export function cannot(error: unknown): never {
  if (!(error instanceof Fault)) throw error
  throw new ToolError('refused', error.message, { impossible: true })
}
