import type { ActionState, AuditKind, Executor, Verdict } from '@countersign/core'
import type { Outbox } from '../store.ts'
import type { ModelCallRow } from './session-rows.ts'

/** An occurrence in a transaction, for the metrics of the process that committed it. */
export type Happening =
  | { what: 'proposed'; verdict: Verdict; state: ActionState }
  | { what: 'moved'; kind: AuditKind; state: ActionState; executor: Executor; isByPerson: boolean; tookMs: number | undefined }
  | { what: 'model_call'; call: ModelCallRow; tookMs: number }

/** Adds it to the metrics of this process once the transaction is committed. */
export function noteHappening(outbox: Outbox, happening: Happening): void {
  outbox.happened ??= []
  outbox.happened.push(happening)
}
