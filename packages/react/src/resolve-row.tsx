import { useEffect, useRef, useState } from 'react'
import { CardButton, type Rest } from './card-button.tsx'
import { formKeys } from './card-keys.ts'
import type { Outcome } from './card-props.ts'
import { useKeepFocus } from './use-keep-focus.ts'

type ResolveRowProps = {
  resting: Rest
  /** Absent when the tool has no way to find out. */
  onVerify: (() => void) | undefined
  onResolve: (outcome: Outcome, note: string) => void
  /** The buttons or the form disappeared with the focus in them. */
  onFocusLost: () => void
}

const OUTCOMES = { succeeded: 'Mark done', failed: 'Mark not done' } as const

/**
 * For an action that may or may not have run: ask the tool, or say what you found. There is no Retry here, because a repeat could be the
 * second effect.
 */
export function ResolveRow(props: ResolveRowProps) {
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  return outcome === null ? (
    <ResolveButtons {...props} onChoose={setOutcome} />
  ) : (
    <ResolveForm {...props} outcome={outcome} onCancel={() => setOutcome(null)} />
  )
}

function ResolveButtons({ resting, onVerify, onChoose, onFocusLost }: ResolveRowProps & { onChoose: (outcome: Outcome) => void }) {
  const row = useRef<HTMLDivElement>(null)
  useKeepFocus(row, onFocusLost)
  return (
    <div ref={row} className="cs-buttons">
      {onVerify ? (
        <CardButton rest={resting} onClick={onVerify}>
          Check again
        </CardButton>
      ) : null}
      {(['succeeded', 'failed'] as const).map((each) => (
        <CardButton key={each} rest={resting} onClick={() => onChoose(each)}>
          {OUTCOMES[each]}
        </CardButton>
      ))}
    </div>
  )
}

type ResolveFormProps = ResolveRowProps & { outcome: Outcome; onCancel: () => void }

function ResolveForm({ outcome, resting, onResolve, onCancel, onFocusLost }: ResolveFormProps) {
  const [note, setNote] = useState('')
  const [isAsked, setAsked] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const text = useRef<HTMLTextAreaElement>(null)
  useKeepFocus(form, onFocusLost)
  useEffect(() => text.current?.focus(), [])
  const given = note.trim()
  const isMissing = isAsked && given === ''
  const send = () => {
    if (given !== '') return onResolve(outcome, given)
    setAsked(true)
    text.current?.focus()
  }
  return (
    <form
      ref={form}
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
