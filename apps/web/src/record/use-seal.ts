import { useQuery } from '@tanstack/react-query'
import { useServices } from '../services.tsx'

export const SEAL = ['audit-seal']
/** Poll slowly: a problem is rare, but another person may accept it. */
const LOOK_EVERY_MS = 30_000

/** Reads whether the record matches the server's signature, and how far back the server can check. */
export function useSeal() {
  const { client } = useServices()
  return useQuery({ queryKey: SEAL, queryFn: ({ signal }) => client.audit.seal({ signal }), refetchInterval: LOOK_EVERY_MS })
}
