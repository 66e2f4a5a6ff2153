import type { Case } from './cases.ts'
import { type Kind, LOCAL, type Phase, phaseAt } from './kinds.ts'
import type { DeedRow } from './rows.ts'

/** An attempt that was cut by the death of its server. */
export interface Cut {
  kind: Kind
  /** Undefined for one on our own disk whose server did not die at a point. */
  phase: Phase | undefined
}

/** How far each attempt was that somebody took over since the record stood at `after`. */
export function cutsSince(cases: readonly Case[], after: number, points: readonly string[]): Cut[] {
  return cases.flatMap((one) =>
    one.deeds
      .filter(({ id, kind }) => kind === 'taken_over' && id > after)
      .map((deed) => ({ kind: one.kind, phase: LOCAL.has(one.kind) ? localPhase(one.kind, points) : phaseByTarget(one, deed) })),
  )
}

/** Infers from the target's entries how far a call had got, wherever its server died. */
function phaseByTarget({ entries }: Case, { at }: DeedRow): Phase {
  const until = entries.filter(({ atMs }) => atMs <= at)
  if (!until.some(({ kind }) => kind === 'request')) return 'before send'
  // An effect after its caller has gone means that the call had only been sent.
  const acted = until.filter(({ kind, isGone }) => kind === 'effect' && !isGone)
  if (acted.length === 0) return 'sent'
  return until.some(({ kind }) => kind === 'answer') ? 'before settle' : 'after effect'
}

const localPhase = (kind: Kind, points: readonly string[]): Phase | undefined =>
  points.map((point) => phaseAt(kind, point)).find((phase) => phase !== undefined)
