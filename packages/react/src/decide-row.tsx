import { useState } from 'react'
import type { Extra } from './card/card-inputs.ts'
import { CardButton } from './card-button.tsx'
import { MORE } from './card-parts.ts'
import { withEdits } from './edits.ts'
import { showInvisible } from './show-text.ts'
import type { CardView } from './use-card-view.ts'
import { useKeepFocus } from './use-keep-focus.ts'

/**
 * Decline and Approve, the last thing on the card. On a narrow screen they stay at its lower edge, once the headline and the changes have
 * been on the screen. Resting buttons stay where they are and keep the focus: they only do nothing.
 */
export function DecideRow({ view }: { view: CardView }) {
  const { shown, store, row, card, resting, press, focusCard, seen } = view
  useKeepFocus(row, focusCard)
  // Without the form, Decline stays where it is.
  const DeclineForm = shown.state === 'declining' ? MORE.get().module?.DeclineForm : undefined
  const isDeclining = DeclineForm !== undefined
  // Kept here: another dialog closes the form, and so does a decline; its text must not be lost before the server has taken it.
  const [reason, setReason] = useState('')
  if (reason && shown.state === 'sent') setReason('')
  const switchForm = (change: () => void) => {
    if (card.current?.contains(document.activeElement)) focusCard()
    change()
  }
  const decline = (extra?: Extra) =>
    press(() => {
      if (isDeclining) focusCard()
      store.decline(extra)
    })
  if (!seen.isSeen && !isDeclining) {
    const show = () => {
      focusCard()
      seen.showUnseen()
    }
    return (
      <div ref={row} className="cs-decide">
        <div className="cs-buttons">
          <CardButton onClick={show}>Show what is not seen yet</CardButton>
        </div>
      </div>
    )
  }
  // A bar must not cover the end of a text that is still to be read.
  const isBar = !isDeclining && !shown.reading.isHidden
  return (
    <div ref={row} className="cs-decide" data-bar={isBar || undefined}>
      {DeclineForm ? (
        <DeclineForm
          resting={resting}
          offerStop={view.props.offerStop ?? false}
          presets={shown.action.declineReasons}
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
              <CardButton
                rest={resting}
                className="cs-quiet"
                aria-label="Decline with reason"
                onClick={() => switchForm(() => store.openDecline())}
              >
                <span className="cs-short">Decline </span>with reason
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
