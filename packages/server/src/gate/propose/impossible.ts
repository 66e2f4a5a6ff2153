import { CountersignError, isCountersignError, type JsonObject } from '@countersign/core'
import { type AuditEntry, recordAudit } from '../../audit/index.ts'
import type { Outbox, Tx } from '../../store/index.ts'
import type { SessionWriter } from '../session-writer.ts'

/** A proposal that was refused before anybody was asked, because it cannot be done. */
export interface ImpossibleCall {
  /** Name of the tool. */
  tool: string
  /** Why, in the words of the tool. */
  reason: string
}

/** Returns the refusal of a call that cannot be done, even with approval: at all, or for now. */
export const impossible = (tool: string, reason: string, how: 'at all' | 'for now'): CountersignError =>
  new CountersignError('impossible', `${tool} cannot be done${how === 'for now' ? ' now' : ''}: ${reason}`, {
    tool,
    reason,
  } satisfies ImpossibleCall)

/** Returns the reason in an error of {@link impossible}; undefined for any other error. */
export function readImpossible(error: unknown): ImpossibleCall | undefined {
  if (!isCountersignError(error) || error.code !== 'impossible') return undefined
  const { tool, reason } = error.extra
  return { tool: String(tool), reason: String(reason) }
}

/**
 * Writes down that a proposal was refused because it cannot be done. Its arguments and the words of the tool, which may repeat them, are left
 * out: no action holds them, so nobody could redact them later.
 * @param writer The session it was proposed in; undefined for an agent that runs elsewhere.
 * @param actor Id of the principal.
 */
export function* recordImpossible(
  outbox: Outbox,
  writer: SessionWriter | undefined,
  { tool, agent, actor }: Pick<ImpossibleCall, 'tool'> & { agent: string | null; actor: string },
  nowMs: number,
): Tx<void> {
  const entry: AuditEntry = { kind: 'impossible', actor, data: { tool, agent } satisfies JsonObject }
  yield* writer ? writer.audit(entry) : recordAudit(outbox, entry, nowMs)
}
