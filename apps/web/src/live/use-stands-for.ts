import type { Client, Principal } from '@countersign/client'
import { useQuery } from '@tanstack/react-query'
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

/** Reads all pages: an admin is listed everybody's, and one that has stood for long is behind all those that ended since. */
export async function readStandsFor(client: Pick<Client, 'delegations'>, myId: string, signal?: AbortSignal): Promise<Principal[]> {
  const people: Principal[] = []
  let cursor: string | undefined
  do {
    const page = await client.delegations.list({ limit: 200, cursor }, signal && { signal })
    people.push(...page.items.filter(({ to, state }) => to.id === myId && state === 'standing').map(({ from }) => from))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return people
}
