import type { Action } from '@countersign/client'
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react'
import { CardButton, type Rest } from './card-button.tsx'
import { objectName } from './object-name.ts'
import { showInvisible } from './show-text.ts'
import { useCooldown } from './use-cooldown.ts'

type ConfirmProps = {
  action: Action
  title: string
  /** Repeats what will happen. */
  children: ReactNode
  /** Why nothing can be decided now, if so. */
  resting: Rest
  onConfirm: () => void
  onCancel: () => void
  /** Called once the dialog is gone, to put the focus back where it belongs. */
  onLeave: () => void
}

/** The second step where a slip is costly: says again what would happen; Cancel has the focus. Critical asks for the object's name. */
export function ConfirmDialog({ action, title, children, resting, onConfirm, onCancel, onLeave }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const cancel = useRef<HTMLButtonElement>(null)
  const id = useId()
  const [typed, setTyped] = useState('')
  const name = objectName(action)
  const matches = action.risk.level !== 'critical' || typed.trim() === name

  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    cancel.current?.focus()
    return () => {
      element?.close()
      onLeave()
    }
  }, [onLeave])
  // After the effect that opens the dialog: where it stands is where it stands once it is open.
  const { rest, isReady, ignored } = useCooldown(dialog, '')

  return (
    <dialog
      ref={dialog}
      role="alertdialog"
      className="cs-confirm"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-what`}
      onCancel={(event) => {
        event.preventDefault()
        onCancel()
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (matches && !resting && isReady('pointer')) onConfirm()
        }}
      >
        <p id={`${id}-title`} className="cs-title">
          {title}
        </p>
        <div id={`${id}-what`}>{children}</div>
        {action.risk.level === 'critical' ? <TypeName name={name} typed={typed} onType={setTyped} /> : null}
        <p role="status" className="cs-status">
          {ignored}
        </p>
        <div className="cs-buttons">
          <CardButton ref={cancel} onClick={onCancel}>
            Cancel
          </CardButton>
          <CardButton type="submit" rest={resting || rest || (matches ? '' : 'blocked')} className="cs-approve">
            Approve
          </CardButton>
        </div>
      </form>
    </dialog>
  )
}

const TypeName = ({ name, typed, onType }: { name: string; typed: string; onType: (text: string) => void }) => (
  <label className="cs-type">
    Type <code>{showInvisible(name)}</code> to confirm
    <input
      value={typed}
      onChange={(event) => onType(event.currentTarget.value)}
      autoComplete="off"
      autoCapitalize="none"
      autoCorrect="off"
      spellCheck={false}
    />
  </label>
)
