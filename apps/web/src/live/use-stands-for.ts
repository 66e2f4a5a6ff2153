import type { Principal } from '@countersign/client'
import { readStandsFor } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
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
