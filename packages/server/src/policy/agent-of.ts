import type { ActionRow } from '../store/index.ts'
import type { AskedCall } from './for-all.ts'

type Named = Pick<ActionRow, 'agent' | 'session_id' | 'agent_verified'>

/** True unless the agent's name is only what the caller said of itself: the agent of a session is the server's own. */
export const isAgentVerified = ({ session_id, agent_verified }: Pick<Named, 'session_id' | 'agent_verified'>): boolean =>
  session_id !== null || agent_verified === 1

/** The agent's name of a stored action by how well it is known: proven, or only claimed. */
export function agentOf(row: Named): Pick<AskedCall, 'agent' | 'claimedAgent'> {
  const name = row.agent ?? undefined
  return isAgentVerified(row) ? { agent: name, claimedAgent: undefined } : { agent: undefined, claimedAgent: name }
}
