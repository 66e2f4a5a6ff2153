import type { Client, Principal } from '@countersign/client'
import { maySaySeen } from './may-decide.ts'

/**
 * Reads the people in whose place this person votes now, with the key in use: nobody where they cannot vote for others.
 * All pages are read: the list of an admin has the delegations of everybody, and a long one stands behind many that were made since.
 * @example
 * whyNot(action, me, await readStandsFor(client, me))
 */
export async function readStandsFor(client: Pick<Client, 'delegations'>, me: Principal | null, signal?: AbortSignal): Promise<Principal[]> {
  // A person known from embed tokens votes for nobody else, and may not read delegations.
  if (!me || me.host !== undefined || !maySaySeen(me)) return []
  const found: Principal[] = []
  let cursor: string | null | undefined
  do {
    const page: Awaited<ReturnType<Client['delegations']['list']>> = await client.delegations.list(
      { limit: 200, ...(cursor && { cursor }) },
      { ...(signal && { signal }) },
    )
    for (const { from, to, state } of page.items) {
      // A key that leaves out a role of its person votes in nobody's place.
      if (to.id === me.id && state === 'standing' && to.roles.every((role) => me.roles.includes(role))) found.push(from)
    }
    cursor = page.nextCursor
  } while (cursor !== null)
  return found
}
