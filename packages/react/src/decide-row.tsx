import type { RefObject } from 'react'
import { CardButton, type Rest } from './card-button.tsx'
import type { Verdict } from './card-props.ts'
import { DeclineForm } from './decline-form.tsx'
import type { Step } from './use-decision.ts'
import { useKeepFocus } from './use-keep-focus.ts'

type DecideRowProps = {
  rowRef: RefObject<HTMLDivElement | null>
  step: Step
  approveLabel: string
  /** What this person voted before: only what would be another vote is offered. */
  voted: Verdict | undefined
  /** Everything rests: cooling down, sending, not connected. */
  resting: Rest
  /** Approving alone rests: something is still hidden, or not whole. */
  blocked: boolean
  /** The id of the text that says why. */
  whyId: string
  offerStop: boolean
  onApprove: () => void
  onDecline: (extra?: { reason?: string; stop?: boolean }) => void
  onStep: (step: Step) => void
  onFocusLost: () => void
}

/** Decline and Approve, the last thing on the card. Resting buttons stay where they are and keep the focus: they only do nothing. */
export function DecideRow({
  rowRef,
  step,
  approveLabel,
  voted,
  resting,
  blocked,
  whyId,
  offerStop,
  onApprove,
  onDecline,
  onStep,
  onFocusLost,
}: DecideRowProps) {
  useKeepFocus(rowRef, onFocusLost)
  return (
    <div ref={rowRef} className="cs-decide">
      {step === 'declining' ? (
        <DeclineForm resting={resting} offerStop={offerStop} onDecline={onDecline} onCancel={() => onStep('idle')} />
      ) : (
        <div className="cs-buttons">
          {voted === 'decline' ? null : (
            <>
              <CardButton rest={resting} className="cs-refuse" onClick={() => onDecline()}>
                Decline
              </CardButton>
              <CardButton rest={resting} className="cs-quiet" onClick={() => onStep('declining')}>
                Decline with reason
              </CardButton>
            </>
          )}
          {voted === 'approve' ? null : (
            <CardButton
              rest={resting || (blocked ? 'blocked' : '')}
              className="cs-approve"
              aria-describedby={blocked ? whyId : undefined}
              onClick={onApprove}
            >
              {approveLabel}
            </CardButton>
          )}
        </div>
      )}
    </div>
  )
}
