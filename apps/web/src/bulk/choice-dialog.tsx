import { type ReactNode, useId } from 'react'
import { Dialog } from '../ui/overlays.ts'
import { Running } from './running.tsx'
import type { Progress } from './use-each.ts'
import '../ui/choice-dialog.css'
import './bulk-task.css'

type ChoiceDialogProps = {
  title: string
  /** The class of the dialog of the same task for a single action. */
  className: string
  /** Set while the task runs: the dialog then shows it in place of the choices, and closes only when it ends. */
  progress: Progress | undefined
  onStop: () => void
  onClose: () => void
  children: ReactNode
}

/** The dialog of a task about many actions. */
export function ChoiceDialog({ title, className, progress, onStop, onClose, children }: ChoiceDialogProps) {
  const id = useId()
  return (
    <Dialog open onClose={progress ? undefined : onClose} aria-labelledby={id} fullWidth maxWidth="xs">
      <div className={`choice-dialog ${className} bulk-task`}>
        <h2 id={id}>{title}</h2>
        {progress ? <Running progress={progress} onStop={onStop} /> : children}
      </div>
    </Dialog>
  )
}
