import { showInvisible } from '@countersign/core/text'
import { useState } from 'react'
import type { Extra } from './card/card-inputs.ts'
import { CardButton } from './card-button.tsx'
import { DeclineForm } from './decline-form.tsx'
import { withEdits } from './edits.ts'
import type { CardView } from './use-card-view.ts'
import { useKeepFocus } from './use-keep-focus.ts'

/** Decline and Approve, the last thing on the card. Resting buttons stay where they are and keep the focus: they only do nothing. */
export function DecideRow({ view }: { view: CardView }) {
  const { shown, store, row, card, resting, press, focusCard } = view
  useKeepFocus(row, focusCard)
  const isDeclining = shown.state === 'declining'
  // Kept here: another dialog closes the form, and its text must not be lost with it.
  const [reason, setReason] = useState('')
  const switchForm = (change: () => void) => {
    if (card.current?.contains(document.activeElement)) focusCard()
    change()
  }
  const decline = (extra?: Extra) =>
    press(() => {
      if (isDeclining) focusCard()
      setReason('')
      store.decline(extra)
    })
  return (
    <div ref={row} className="cs-decide">
      {isDeclining ? (
        <DeclineForm
          resting={resting}
          offerStop={view.props.offerStop ?? false}
          reason={reason}
          onReason={setReason}
          onDecline={decline}
          onCancel={() => switchForm(() => store.back())}
        />
      ) : (
        <div className="cs-buttons">
          {shown.voted === 'decline' ? null : (
            <>
              <CardButton rest={resting} className="cs-refuse" onClick={() => decline()}>
                Decline
              </CardButton>
              <CardButton rest={resting} className="cs-quiet" onClick={() => switchForm(() => store.openDecline())}>
                Decline with reason
              </CardButton>
            </>
          )}
          {shown.voted === 'approve' ? null : <ApproveButton view={view} />}
        </div>
      )}
    </div>
  )
}

function ApproveButton({ view: { shown, store, resting, press, id } }: { view: CardView }) {
  const { edits, action } = shown
  const isBlocked = shown.blocked !== null
  return (
    <CardButton
      rest={resting || (isBlocked ? 'blocked' : '')}
      className="cs-approve"
      aria-label={edits.length === 0 ? `Approve: ${showInvisible(action.description)}` : undefined}
      aria-describedby={isBlocked ? `${id}-why` : undefined}
      onClick={() => press(() => store.approve())}
    >
      Approve{withEdits(edits)}
    </CardButton>
  )
}
