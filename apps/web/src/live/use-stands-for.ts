import type { Principal } from '@countersign/client'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../services.tsx'

const NOBODY: readonly Principal[] = []

/** The people in whose place this person votes now. */
export function useStandsFor(): readonly Principal[] {
  const { client, me } = useServices()
  const found = useQuery({
    queryKey: ['stands-for'],
    queryFn: async ({ signal }) => {
      const { items } = await client.delegations.list({ limit: 200 }, { signal })
      return items.filter(({ to, state }) => to.id === me.id && state === 'standing').map(({ from }) => from)
    },
    staleTime: 60_000,
  })
  return found.data ?? NOBODY
}
