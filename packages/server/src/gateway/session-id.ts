import { z } from 'zod'
import { createSeal } from '../identity/seal.ts'

const Sealed = z.object({ principalId: z.string() })

/**
 * Ids of the sessions of clients that begin with `initialize`. Nothing is kept of a session: what it is stands sealed in its id, so that
 * every process knows it, and knows it still after a restart.
 */
export interface SessionIds {
  draw(principalId: string): string
  /** True for an id that was drawn for this principal. */
  isOf(id: string, principalId: string): boolean
}

export function createSessionIds(secret: string): SessionIds {
  const seal = createSeal(secret, 'mcp session')
  return {
    draw: (principalId) => seal.close({ principalId }),
    isOf: (id, principalId) => Sealed.safeParse(seal.open(id)).data?.principalId === principalId,
  }
}
