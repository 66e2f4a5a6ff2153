import { useEffect, useRef, useState } from 'react'

const PRESETS = ['Wrong target', 'Wrong amount or value', 'Not needed', 'Tell me more first'] as const

type DeclineFormProps = {
  resting: boolean
  offerStop: boolean
  onDecline: (extra: { reason?: string; stop?: boolean }) => void
  onCancel: () => void
}

/** Declining with a reason: the agent gets it as the answer of its call. Ctrl/⌘+Enter sends, Escape leaves. */
export function DeclineForm({ resting, offerStop, onDecline, onCancel }: DeclineFormProps) {
  const [reason, setReason] = useState('')
  const text = useRef<HTMLTextAreaElement>(null)
  useEffect(() => text.current?.focus(), [])
  const given = reason.trim() === '' ? {} : { reason: reason.trim() }
  return (
    <form
      className="cs-decline"
      onSubmit={(event) => {
        event.preventDefault()
        onDecline(given)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel()
        else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onDecline(given)
        else return
        event.preventDefault()
        event.stopPropagation()
      }}
    >
      <fieldset className="cs-presets">
        <legend>Why decline?</legend>
        {PRESETS.map((preset) => (
          <button
            key={preset}
            type="button"
            className="cs-button cs-small"
            aria-pressed={reason === preset}
            onClick={() => setReason(preset)}
          >
            {preset}
          </button>
        ))}
      </fieldset>
      <label>
        Reason, for the agent (optional)
        <textarea ref={text} value={reason} maxLength={2_000} rows={2} onChange={(event) => setReason(event.currentTarget.value)} />
      </label>
      <div className="cs-buttons">
        <button type="button" className="cs-button" onClick={onCancel}>
          Back
        </button>
        <button type="submit" className="cs-button cs-refuse" aria-disabled={resting}>
          Send decline
        </button>
        {offerStop ? (
          <button type="button" className="cs-button cs-refuse" aria-disabled={resting} onClick={() => onDecline({ ...given, stop: true })}>
            Decline and stop
          </button>
        ) : null}
      </div>
    </form>
  )
}
