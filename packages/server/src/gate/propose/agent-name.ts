import { CountersignError, type Principal } from '@countersign/core'
import type { AskedCall } from '../../policy/index.ts'

/**
 * The name of the agent that a caller speaks for: the one that its key proves, or else the one that it gives itself, which proves nothing.
 * @param given The name in the request, where it has one.
 * @throws CountersignError `forbidden` for another name than the one that the key proves.
 */
export function agentNamed(given: string | undefined, { name, agent }: Principal): Pick<AskedCall, 'agent' | 'claimedAgent'> {
  if (agent === undefined) return { agent: undefined, claimedAgent: given }
  if (given !== undefined && given !== agent) {
    throw new CountersignError(
      'forbidden',
      `the key of ${name} is for the agent ${agent}, not for ${given}: leave "agent" out, or use another key`,
    )
  }
  return { agent, claimedAgent: undefined }
}
