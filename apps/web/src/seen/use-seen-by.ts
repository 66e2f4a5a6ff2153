import type { Action, SeenBody, SeenBy } from '@countersign/client'
import { maySaySeen } from '@countersign/react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useServices } from '../services.tsx'

/** No event says that somebody looks: it would be a row of the log for each of them. */
const REREAD_MS = 15_000

const keyOf = ({ id, revision }: Pick<Action, 'id' | 'revision'>) => ['action', id, 'seen', revision]

/** The other people who have had a waiting action on their screen, the latest first; undefined until it is known. */
export function useSeenBy(action: Action): SeenBy[] | undefined {
  const { client, me } = useServices()
  const { data } = useQuery({
    queryKey: keyOf(action),
    queryFn: async ({ signal }) => (await client.actions.get(action.id, {}, { signal })).seenBy ?? [],
    enabled: action.state === 'proposed',
    refetchInterval: REREAD_MS,
    staleTime: REREAD_MS,
  })
  return data?.filter(({ by, revision }) => by.id !== me.id && revision === action.revision)
}

/** Says that this person has had the action on their screen; undefined for who is not asked. */
export function useSaySeen(action: Action): ((seen: SeenBody) => Promise<void>) | undefined {
  const { client, me } = useServices()
  const queries = useQueryClient()
  if (!maySaySeen(me)) return undefined
  return async (seen) => {
    const { seenBy } = await client.actions.seen(action.id, seen)
    queries.setQueryData(keyOf(action), seenBy)
    await queries.invalidateQueries({ queryKey: ['action', action.id, 'story'] })
  }
}
