import type { Client, Delegation, Principal } from '@countersign/client'
import { useQuery } from '@tanstack/react-query'
import { readPages } from '../read-pages.ts'
import { useServices } from '../services.tsx'

const NOBODY: readonly Principal[] = []

/** The people in whose place this person votes now, with the key in use. */
export function useStandsFor(): readonly Principal[] {
  const { client, me } = useServices()
  const found = useQuery({
    queryKey: ['stands-for'],
    queryFn: ({ signal }) => readStandsFor(client, me, signal),
    staleTime: 60_000,
  })
  return found.data ?? NOBODY
}

/** Reads all pages: the list of an admin has the delegations of everybody, and a long one stands behind many that were made since. */
export async function readStandsFor(
  client: Pick<Client, 'delegations'>,
  me: Pick<Principal, 'id' | 'roles'>,
  signal?: AbortSignal,
): Promise<Principal[]> {
  const delegations = await readPages((page) => client.delegations.list(page, signal && { signal }))
  // A key that leaves out a role of its person votes in nobody's place.
  const isMine = ({ to, state }: Delegation) => to.id === me.id && state === 'standing' && to.roles.every((role) => me.roles.includes(role))
  return delegations.filter(isMine).map(({ from }) => from)
}
