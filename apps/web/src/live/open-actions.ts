import type { Actions } from '@countersign/client'
import { createContext, use, useEffect } from 'react'

const NONE: Actions = {}

/** Takes the actions of the page that is open, so that the live regions at the root can tell how they end. */
export const OpenActionsContext = createContext<(actions: Actions) => void>(() => {})

/** Shares this page's actions with the live regions for as long as the page is open. */
export function useShareActions(actions: Actions): void {
  const share = use(OpenActionsContext)
  useEffect(() => {
    share(actions)
  }, [share, actions])
  useEffect(() => () => share(NONE), [share])
}
