import { actions, newId } from '../store/index.ts'
import type { AgentParts } from './agent.ts'

/** Gives each call of a step its id, the same for every event of the call. */
export interface CallIds {
  of(key: string, providerCallId: string | undefined): Promise<string>
}

/**
 * Providers reuse their ids (`functions.add:0` in every run), leave them empty or send none: theirs stand only while they are unique in
 * the session, and never for more than a name.
 */
export function openCallIds(parts: AgentParts, sessionId: string): CallIds {
  const chosen = new Map<string, string>()
  const used = new Set<string>()

  async function choose(providerCallId: string | undefined): Promise<string> {
    const own = newId('call', parts.clock.nowMs())
    if (providerCallId === undefined || !/^[\x21-\x7e]{1,128}$/.test(providerCallId) || used.has(providerCallId)) return own
    const taken = await parts.store.read(() => actions.callIdTaken.first({ session_id: sessionId, tool_call_id: providerCallId }))
    return taken ? own : providerCallId
  }

  return {
    async of(key, providerCallId) {
      const known = chosen.get(key)
      if (known !== undefined) return known
      const id = await choose(providerCallId)
      chosen.set(key, id)
      used.add(id)
      return id
    },
  }
}
