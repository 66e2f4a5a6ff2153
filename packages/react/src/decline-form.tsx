import { useEffect, useRef } from 'react'
import { CardButton, type Rest } from './card-button.tsx'
import { formKeys } from './card-keys.ts'
import { showInvisible } from './show-text.ts'

/** The reasons to choose from where neither the rule nor the tool has any. */
const DEFAULT_REASONS: readonly string[] = ['Wrong target', 'Wrong amount or value', 'Not needed', 'Tell me more first']

type DeclineFormProps = {
  resting: Rest
  offerStop: boolean
  /** The reasons to choose from; undefined for the usual ones. */
  presets: readonly string[] | undefined
  /** The text so far. */
  reason: string
  onReason: (reason: string) => void
  onDecline: (extra: { reason?: string; stop?: boolean }) => void
  onCancel: () => void
}

/** Declining with a reason: the agent gets it as the answer of its call. Ctrl/⌘+Enter sends, Escape leaves. */
export function DeclineForm({ resting, offerStop, presets = DEFAULT_REASONS, reason, onReason, onDecline, onCancel }: DeclineFormProps) {
  const form = useRef<HTMLFormElement>(null)
  const text = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    text.current?.focus()
    // Its buttons too: at the end of a chat they would open behind the composer.
    form.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const given = reason.trim() === '' ? {} : { reason: reason.trim() }
  return (
    <form
      ref={form}
      className="cs-decline"
      onSubmit={(event) => {
        event.preventDefault()
        onDecline(given)
      }}
      onKeyDown={formKeys(onCancel, () => onDecline(given))}
    >
      <fieldset className="cs-presets">
        <legend>Why decline?</legend>
        {presets.map((preset) => (
          <CardButton key={preset} className="cs-small" aria-pressed={reason === preset} onClick={() => onReason(preset)}>
            {showInvisible(preset)}
          </CardButton>
        ))}
      </fieldset>
      <label>
        Reason, for the agent (optional)
        <textarea ref={text} value={reason} maxLength={2_000} rows={2} onChange={(event) => onReason(event.currentTarget.value)} />
      </label>
      <div className="cs-buttons">
        <CardButton onClick={onCancel}>Back</CardButton>
        <CardButton rest={resting} type="submit" className="cs-refuse">
          Send decline
        </CardButton>
        {offerStop ? (
          <CardButton rest={resting} className="cs-refuse" onClick={() => onDecline({ ...given, stop: true })}>
            Decline and stop
          </CardButton>
        ) : null}
      </div>
    </form>
  )
}
