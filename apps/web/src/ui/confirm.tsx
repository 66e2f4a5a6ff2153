import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
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
