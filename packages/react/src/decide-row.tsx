import type { RefObject } from 'react'
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
  resting: boolean
  /** Approving alone rests: something is still hidden. */
  blocked: boolean
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
              <button type="button" className="cs-button cs-refuse" aria-disabled={resting} onClick={() => onDecline()}>
                Decline
              </button>
              <button type="button" className="cs-button cs-quiet" aria-disabled={resting} onClick={() => onStep('declining')}>
                Decline with reason
              </button>
            </>
          )}
          {voted === 'approve' ? null : (
            <button type="button" className="cs-button cs-approve" aria-disabled={resting || blocked} onClick={onApprove}>
              {approveLabel}
            </button>
          )}
        </div>
      )}
    </div>
  )
}
