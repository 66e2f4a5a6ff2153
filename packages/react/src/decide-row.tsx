import type { RefObject } from 'react'
import { DeclineForm } from './decline-form.tsx'
import type { Step } from './use-decision.ts'
import { useKeepFocus } from './use-keep-focus.ts'

type DecideRowProps = {
  rowRef: RefObject<HTMLDivElement | null>
  step: Step
  approveLabel: string
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
          <button type="button" className="cs-button cs-refuse" aria-disabled={resting} onClick={() => onDecline()}>
            Decline
          </button>
          <button type="button" className="cs-button cs-quiet" aria-disabled={resting} onClick={() => onStep('declining')}>
            Decline with reason
          </button>
          <button type="button" className="cs-button cs-approve" aria-disabled={resting || blocked} onClick={onApprove}>
            {approveLabel}
          </button>
        </div>
      )}
    </div>
  )
}
