import { z } from 'zod'
import { createSeal } from '../identity/seal.ts'

const Sealed = z.object({ principalId: z.string() })

/**
 * Creates and checks session ids of clients that begin with `initialize`. The server stores no session: its state is sealed in its id, so
 * that every process accepts it, even after a restart.
 */
export interface SessionIds {
  draw(principalId: string): string
  /** Returns true for an id that was created for this principal. */
  isOf(id: string, principalId: string): boolean
}

export function createSessionIds(secret: string): SessionIds {
  const seal = createSeal(secret, 'mcp session')
  return {
    draw: (principalId) => seal.close({ principalId }),
    isOf: (id, principalId) => Sealed.safeParse(seal.open(id)).data?.principalId === principalId,
  }
}
