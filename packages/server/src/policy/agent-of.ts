import type { ActionRow } from '../store/index.ts'
import type { AskedCall } from './for-all.ts'

type Named = Pick<ActionRow, 'agent' | 'session_id' | 'agent_verified'>

/** Returns true unless the agent's name is only claimed by the caller: the server itself sets the agent of a session. */
export const isAgentVerified = ({ session_id, agent_verified }: Pick<Named, 'session_id' | 'agent_verified'>): boolean =>
  session_id !== null || agent_verified === 1

/** Returns the agent's name of a stored action, as either proven or only claimed. */
export function agentOf(row: Named): Pick<AskedCall, 'agent' | 'claimedAgent'> {
  const name = row.agent ?? undefined
  return isAgentVerified(row) ? { agent: name, claimedAgent: undefined } : { agent: undefined, claimedAgent: name }
}
