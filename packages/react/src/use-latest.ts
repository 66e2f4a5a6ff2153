import type { Action } from '@countersign/client'
import { useState } from 'react'

const isLater = (other: Action, than: Action): boolean =>
  other.revision > than.revision || (other.revision === than.revision && other.updatedAt >= than.updatedAt)

/** The later of the action that the card was given and what an answer of the server said it is: a page may hear of it only later. */
export function useLatest(given: Action): { action: Action; take: (action: Action) => void } {
  const [told, take] = useState<Action>()
  return { action: told?.id === given.id && isLater(told, given) ? told : given, take }
}
