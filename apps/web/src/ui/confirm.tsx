import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { Button, Failure } from './index.ts'
import { Dialog } from './overlays.ts'

export type ConfirmProps = {
  title: string
  children: ReactNode
  action: string
  /** Makes the change. The dialog closes when it resolves, and shows the error when it rejects. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
}

/** Asks for confirmation before an irreversible change. The cancel button has the focus. */
export default function Confirm({ title, children, action, onConfirm, onClose }: ConfirmProps) {
  const id = useId()
  useFocusNearOpener()
  const { mutate, isPending, error } = useMutation({ mutationFn: onConfirm })
  // Not an option of the mutation: after Cancel, the answer would close the next dialog of the page.
  const confirm = () => mutate(undefined, { onSuccess: onClose })
  return (
    <Dialog open onClose={onClose} role="alertdialog" aria-labelledby={id}>
      <div className="dialog">
        <h2 id={id}>{title}</h2>
        <div>{children}</div>
        <Failure of={error} />
        <div className="dialog-end">
          <Button variant="outlined" autoFocus onClick={onClose}>
            Cancel
          </Button>
          <Button variant="contained" color="error" disabled={isPending} onClick={confirm}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

/** Selects the elements around a button that can take the focus. */
const AROUND = 'li, ul, section, main'

/** The dialog gives the focus back to the button that opened it. Where the change took that away, the focus moves to what was around it. */
function useFocusNearOpener(): void {
  const [around] = useState(() => {
    const found: HTMLElement[] = []
    for (let at = document.activeElement?.closest<HTMLElement>(AROUND); at; at = at.parentElement?.closest<HTMLElement>(AROUND))
      found.push(at)
    return found
  })
  useEffect(
    () => () => {
      // After the dialog has given the focus back.
      setTimeout(() => {
        const near = around.find(({ isConnected }) => isConnected)
        if (!near || document.activeElement !== document.body) return
        near.tabIndex = -1
        near.focus({ preventScroll: true })
      })
    },
    [around],
  )
}
