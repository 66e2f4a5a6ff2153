import { useEffect, useRef, useState } from 'react'
import { CardButton, type Rest } from './card-button.tsx'
import { formKeys } from './card-keys.ts'
import type { Outcome } from './card-props.ts'

type ResolveRowProps = {
  resting: Rest
  /** Absent when the tool has no way to find out. */
  onVerify: (() => void) | undefined
  onResolve: (outcome: Outcome, note: string) => void
  /** The form closed with the focus in it. */
  onClose: () => void
}

const OUTCOMES = { succeeded: 'Mark done', failed: 'Mark not done' } as const

/**
 * For an action that may or may not have run: ask the tool, or say what you found. There is no Retry here, because a repeat could be the
 * second effect.
 */
export function ResolveRow({ resting, onVerify, onResolve, onClose }: ResolveRowProps) {
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  if (outcome !== null) {
    const close = () => {
      onClose()
      setOutcome(null)
    }
    return <ResolveForm outcome={outcome} resting={resting} onResolve={(note) => onResolve(outcome, note)} onCancel={close} />
  }
  return (
    <div className="cs-buttons">
      {onVerify ? (
        <CardButton rest={resting} onClick={onVerify}>
          Check again
        </CardButton>
      ) : null}
      {(['succeeded', 'failed'] as const).map((each) => (
        <CardButton key={each} rest={resting} onClick={() => setOutcome(each)}>
          {OUTCOMES[each]}
        </CardButton>
      ))}
    </div>
  )
}

type ResolveFormProps = { outcome: Outcome; resting: Rest; onResolve: (note: string) => void; onCancel: () => void }

function ResolveForm({ outcome, resting, onResolve, onCancel }: ResolveFormProps) {
  const [note, setNote] = useState('')
  const [isAsked, setAsked] = useState(false)
  const text = useRef<HTMLTextAreaElement>(null)
  useEffect(() => text.current?.focus(), [])
  const given = note.trim()
  const isMissing = isAsked && given === ''
  const send = () => {
    if (given !== '') return onResolve(given)
    setAsked(true)
    text.current?.focus()
  }
  return (
    <form
      className="cs-decline"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onKeyDown={formKeys(onCancel, send)}
    >
      <label>
        What did you see? The agent is told.
        <textarea
          ref={text}
          required
          aria-invalid={isMissing}
          value={note}
          maxLength={2_000}
          rows={2}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
      </label>
      {isMissing ? <p role="alert">Say how you know.</p> : null}
      <div className="cs-buttons">
        <CardButton onClick={onCancel}>Back</CardButton>
        <CardButton rest={resting} type="submit" className="cs-approve">
          {OUTCOMES[outcome]}
        </CardButton>
      </div>
    </form>
  )
}
