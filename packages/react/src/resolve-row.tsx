import { useEffect, useRef, useState } from 'react'
import { CardButton, type Rest } from './card-button.tsx'
import { formKeys } from './card-keys.ts'
import type { Outcome } from './card-props.ts'
import { useKeepFocus } from './use-keep-focus.ts'

type ResolveRowProps = {
  /** The attempt whose outcome is unknown. */
  attempt: number
  resting: Rest
  /** Absent when the tool has no way to find out. */
  onVerify: (() => void) | undefined
  /** `attempt`: the one that the finding is about. */
  onResolve: (outcome: Outcome, note: string, attempt: number) => void
  /** The buttons or the form disappeared with the focus in them. */
  onFocusLost: () => void
}

const OUTCOMES = { succeeded: 'Mark done', failed: 'Mark not done' } as const

/**
 * For an action that may or may not have run: ask the tool, or say what you found. There is no Retry here, because a repeat could be the
 * second effect.
 */
export function ResolveRow(props: ResolveRowProps) {
  // A finding belongs to the attempt for which the form was opened, even if the action has a later attempt when it is sent.
  const [begun, setBegun] = useState<Begun | null>(null)
  const [note, setNote] = useState('')
  if (begun === null) return <ResolveButtons {...props} onChoose={(outcome) => setBegun({ outcome, attempt: props.attempt })} />
  const leave = () => {
    // After another attempt the person has to look again. Their text stays, so that they can edit it.
    if (begun.attempt === props.attempt) setNote('')
    setBegun(null)
  }
  return <ResolveForm {...props} begun={begun} note={note} onNote={setNote} onCancel={leave} />
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

type Begun = { outcome: Outcome; attempt: number }
type ResolveFormProps = ResolveRowProps & { begun: Begun; note: string; onNote: (note: string) => void; onCancel: () => void }

function ResolveForm({ attempt, begun, note, onNote, resting, onResolve, onCancel, onFocusLost }: ResolveFormProps) {
  const [isAsked, setAsked] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const text = useRef<HTMLTextAreaElement>(null)
  useKeepFocus(form, onFocusLost)
  useEffect(() => text.current?.focus(), [])
  const given = note.trim()
  const isMissing = isAsked && given === ''
  const isOld = attempt !== begun.attempt
  const send = () => {
    if (isOld) return text.current?.focus()
    if (given !== '') return onResolve(begun.outcome, given, begun.attempt)
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
          onChange={(event) => onNote(event.currentTarget.value)}
        />
      </label>
      {isMissing ? <p role="alert">Say how you know.</p> : null}
      {isOld ? <p role="alert">It was tried again since you began. Look again, then go back and say what became of this attempt.</p> : null}
      <div className="cs-buttons">
        <CardButton onClick={onCancel}>Back</CardButton>
        <CardButton rest={isOld ? 'blocked' : resting} type="submit" className="cs-approve">
          {OUTCOMES[begun.outcome]}
        </CardButton>
      </div>
    </form>
  )
}
