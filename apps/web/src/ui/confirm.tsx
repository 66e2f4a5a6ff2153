import { type ReactNode, useId } from 'react'
import { Button } from './index.ts'
import { Dialog } from './overlays.ts'
import './pages.css'

type ConfirmProps = {
  title: string
  children: ReactNode
  action: string
  isBusy: boolean
  failure?: string
  onConfirm: () => void
  onClose: () => void
}

/** Asks for confirmation before an irreversible change. The cancel button has the focus. */
export default function Confirm({ title, children, action, isBusy, failure = '', onConfirm, onClose }: ConfirmProps) {
  const id = useId()
  return (
    <Dialog open onClose={onClose} role="alertdialog" aria-labelledby={id}>
      <div className="confirm">
        <h2 id={id}>{title}</h2>
        <div>{children}</div>
        {failure !== '' && (
          <p role="alert" className="field-issue">
            {failure}
          </p>
        )}
        <div className="confirm-actions">
          <Button variant="outlined" autoFocus onClick={onClose}>
            Cancel
          </Button>
          <Button variant="contained" color="error" disabled={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
