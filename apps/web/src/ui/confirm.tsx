import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { Button, Failure } from './index.ts'
import { Dialog } from './overlays.ts'
import './pages.css'

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
  const { mutate, isPending, error } = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  return (
    <Dialog open onClose={onClose} role="alertdialog" aria-labelledby={id}>
      <div className="dialog">
        <h2 id={id}>{title}</h2>
        <div>{children}</div>
        <Failure of={error} />
        <div className="confirm-actions">
          <Button variant="outlined" autoFocus onClick={onClose}>
            Cancel
          </Button>
          <Button variant="contained" color="error" disabled={isPending} onClick={() => mutate()}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
