import { useQuery } from '@tanstack/react-query'
import { useServices } from '../services.tsx'

export const HOLD = ['hold']
/** Poll slowly: a hold is rare, but another person may end it. */
const LOOK_EVERY_MS = 30_000

/** Reads whether the server is on hold because its database looks like a copy. */
export function useHold() {
  const { client } = useServices()
  return useQuery({ queryKey: HOLD, queryFn: ({ signal }) => client.hold.get({ signal }), refetchInterval: LOOK_EVERY_MS })
}
