import type { Client, Principal } from '@countersign/client'
import { useQuery } from '@tanstack/react-query'
import { readPages } from '../read-pages.ts'
import { useServices } from '../services.tsx'

const NOBODY: readonly Principal[] = []

/** The people in whose place this person votes now. */
export function useStandsFor(): readonly Principal[] {
  const { client, me } = useServices()
  const found = useQuery({
    queryKey: ['stands-for'],
    queryFn: ({ signal }) => readStandsFor(client, me.id, signal),
    staleTime: 60_000,
  })
  return found.data ?? NOBODY
}

/** Reads all pages: the list of an admin has the delegations of everybody, and a long one stands behind many that were made since. */
export async function readStandsFor(client: Pick<Client, 'delegations'>, myId: string, signal?: AbortSignal): Promise<Principal[]> {
  const delegations = await readPages((page) => client.delegations.list(page, signal && { signal }))
  return delegations.filter(({ to, state }) => to.id === myId && state === 'standing').map(({ from }) => from)
}
