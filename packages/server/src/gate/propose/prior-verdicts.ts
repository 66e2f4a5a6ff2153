import { type ActionRow, grants, type SessionState, type Tx } from '../../store/index.ts'

/** Whether an earlier decline in the same run, or a grant, may answer a call without people. */
export interface PriorVerdicts {
  declined: boolean
  granted: boolean
}

/**
 * Looks whether it is worth looking: of most calls nobody has said anything.
 * @param state The session as this transaction has it.
 */
export function* priorVerdicts(
  { session_id, digest }: Pick<ActionRow, 'session_id' | 'digest'>,
  agent: string | null,
  tool: string,
  state: SessionState | undefined,
): Tx<PriorVerdicts> {
  // Grants of an outside agent are found by its key, and it has no run.
  if (session_id === null) return { declined: false, granted: true }
  if (state && !state.hasDeclined && !state.hasGrants) return { declined: false, granted: false }
  const found = yield* grants.priorVerdicts.first({ session_id, agent, tool, digest })
  return { declined: found?.declined === 1, granted: found?.granted === 1 }
}
