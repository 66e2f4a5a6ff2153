import type { Action } from '@countersign/client'
import { lazy } from 'react'
import { Boundary } from '../shell/boundary.tsx'
import type { Outcome } from './outcome.ts'
import type { BulkTask } from './use-bulk.ts'

const loadNotice = () => import('./outcome-notice.tsx')
/** Loaded with the dialog: it also says that the network is gone. */
export const OutcomeNotice = lazy(loadNotice)

async function withNotice<T>(dialog: Promise<T>): Promise<T> {
  await loadNotice()
  return dialog
}

const BulkDialog = lazy(() => withNotice(import('./bulk-dialog.tsx')))
const BulkSnoozeDialog = lazy(() => withNotice(import('./bulk-snooze-dialog.tsx')))
const BulkAssignDialog = lazy(() => withNotice(import('./bulk-assign-dialog.tsx')))

type BulkTaskDialogProps = {
  task: BulkTask
  /** As they were when it was asked. */
  chosen: readonly Action[]
  onClose: () => void
  onDone: (outcome: Outcome) => void
}

/** The dialog of a task about the chosen rows. */
export function BulkTaskDialog({ task, ...about }: BulkTaskDialogProps) {
  return (
    <Boundary>
      {task === 'snooze' && <BulkSnoozeDialog {...about} />}
      {task === 'assign' && <BulkAssignDialog {...about} />}
      {(task === 'approve' || task === 'decline') && <BulkDialog {...about} verdict={task} />}
    </Boundary>
  )
}
