import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { Outcome } from './card-props.ts'

type ResolveRowProps = {
  resting: boolean
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
        <button type="button" className="cs-button" aria-disabled={resting} onClick={onVerify}>
          Check again
        </button>
      ) : null}
      {(['succeeded', 'failed'] as const).map((each) => (
        <button key={each} type="button" className="cs-button" aria-disabled={resting} onClick={() => setOutcome(each)}>
          {OUTCOMES[each]}
        </button>
      ))}
    </div>
  )
}

type ResolveFormProps = { outcome: Outcome; resting: boolean; onResolve: (note: string) => void; onCancel: () => void }

function ResolveForm({ outcome, resting, onResolve, onCancel }: ResolveFormProps) {
  const [note, setNote] = useState('')
  const [isAsked, setAsked] = useState(false)
  const text = useRef<HTMLTextAreaElement>(null)
  useEffect(() => text.current?.focus(), [])
  const send = (event: Pick<FormEvent, 'preventDefault'>) => {
    event.preventDefault()
    const given = note.trim()
    if (given !== '') return onResolve(given)
    setAsked(true)
    text.current?.focus()
  }
  return (
    <form
      className="cs-decline"
      noValidate
      onSubmit={send}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel()
        else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(event)
        else return
        event.preventDefault()
        event.stopPropagation()
      }}
    >
      <label>
        What did you see there? It stays with the action, and the agent is told the outcome.
        <textarea
          ref={text}
          required
          aria-invalid={isAsked && note.trim() === ''}
          value={note}
          maxLength={2_000}
          rows={2}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
      </label>
      {isAsked && note.trim() === '' ? <p role="alert">Say how you know: nobody can tell later otherwise.</p> : null}
      <div className="cs-buttons">
        <button type="button" className="cs-button" onClick={onCancel}>
          Back
        </button>
        <button type="submit" className="cs-button cs-approve" aria-disabled={resting}>
          {OUTCOMES[outcome]}
        </button>
      </div>
    </form>
  )
}
