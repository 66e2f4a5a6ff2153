import { useQuery } from '@tanstack/react-query'
import { useServices } from '../services.tsx'

export const SEAL = ['audit-seal']
/** A problem is rare, and another person may accept it. */
const LOOK_EVERY_MS = 30_000

/** Whether the record is the one that the server signed, and how far back the server remembers it. */
export function useSeal() {
  const { client } = useServices()
  return useQuery({ queryKey: SEAL, queryFn: ({ signal }) => client.audit.seal({ signal }), refetchInterval: LOOK_EVERY_MS })
}
