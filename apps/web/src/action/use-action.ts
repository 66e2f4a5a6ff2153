import type { Action } from '@countersign/client'
import { useInbox } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../services.tsx'

const UNDER_WAY_MS = 1_000
const RESTING_MS = 15_000

/** How soon an action in this state may be another one; false when nothing moves it any more. */
function refetchMs(action: Action | undefined): number | false {
  if (!action) return false
  if (action.state === 'approved' || action.state === 'executing') return UNDER_WAY_MS
  return action.state === 'proposed' || action.state === 'failed' || action.state === 'outcome_unknown' ? RESTING_MS : false
}

/**
 * One action, current: by the inbox's stream while it waits, by asking while it runs.
 * @param known An earlier view of it, shown at once.
 */
export function useAction(actionId: string, known?: Action) {
  const { client, inbox } = useServices()
  const live = useInbox(inbox).items.find((action) => action.id === actionId)
  const query = useQuery({
    queryKey: ['action', actionId],
    queryFn: ({ signal }) => client.actions.get(actionId, {}, { signal }),
    refetchInterval: ({ state }) => refetchMs(state.data),
    placeholderData: known,
    // The stream says whatever happens to an action that waits; a known row need not ask before it stopped waiting.
    enabled: known === undefined || (live === undefined && refetchMs(known) === UNDER_WAY_MS),
  })
  const views = [query.data, live, known].filter((view) => view !== undefined)
  const action = views.reduce<Action | undefined>((held, view) => (held && !isLater(view, held) ? held : view), undefined)
  return { ...query, action }
}

/** True when a view of an action is newer than the one that is held. */
export const isLater = (view: Action, held: Action): boolean =>
  view.revision > held.revision || (view.revision === held.revision && view.updatedAt > held.updatedAt)
