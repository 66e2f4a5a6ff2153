import type { Action } from '@countersign/client'
import { lazy, useState } from 'react'
import { useServices } from '../services.tsx'
import { Boundary } from '../shell/boundary.tsx'
import { assignedText } from './words.ts'

export const AssignDialog = lazy(() => import('./assign-dialog.tsx'))

/** Shows who should decide about the action, and changes it. */
export function AssignButton({ action, className, onOpen }: { action: Action; className: string; onOpen?: () => void }) {
  const { me } = useServices()
  const [isOpen, setOpen] = useState(false)
  if (action.state !== 'proposed' && action.state !== 'outcome_unknown') return null
  return (
    <>
      <button type="button" className={className} data-testid="assign" onClick={onOpen ?? (() => setOpen(true))}>
        {assignedText(action, me) || 'Assign…'}
      </button>
      {isOpen && (
        <Boundary>
          <AssignDialog action={action} onClose={() => setOpen(false)} />
        </Boundary>
      )}
    </>
  )
}
