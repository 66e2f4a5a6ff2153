import type { Preview } from '@countersign/core'
import type { ToolDraft } from '../tool-draft.ts'
import { Fault } from './fault.ts'

/** A tool without what its place in a source says of it. */
export type WorkspaceTool = Omit<ToolDraft, 'destination' | 'definition'>

/** What cannot be done is shown as that. When it could be done after all, people are asked again, with what it would do. */
export function cannot(error: unknown, field: string): Preview {
  if (!(error instanceof Fault)) throw error
  const reason = `cannot be done: ${error.message}`
  return { fields: [{ field, newValue: reason }], precondition: { reason } }
}
