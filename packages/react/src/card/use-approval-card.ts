import { useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react'
import type { CardInputs } from './card-inputs.ts'
import { type ApprovalCardStore, type CardSnapshot, createApprovalCard } from './create-approval-card.ts'

/**
 * The logic of an approval card for a component of your own: what to show, and the store whose methods the buttons call.
 * @example
 * const [shown, card] = useApprovalCard({ action, me, onDecide })
 * if (shown.state === 'loading') return null
 * return <button disabled={!shown.canDecide || shown.rest !== ''} onClick={() => card.approve()}>Approve</button>
 */
export function useApprovalCard(inputs: CardInputs): [shown: CardSnapshot, card: ApprovalCardStore] {
  const [card] = useState(() => createApprovalCard(inputs))
  useLayoutEffect(() => card.update(inputs))
  useEffect(() => () => card.close(), [card])
  return [useSyncExternalStore(card.subscribe, card.get, card.get), card]
}
