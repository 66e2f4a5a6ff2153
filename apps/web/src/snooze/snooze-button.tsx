import type { Action } from '@countersign/client'
import { clockText } from '@countersign/react'
import { lazy, useState } from 'react'
import { Boundary } from '../shell/boundary.tsx'
import { useSnoozes } from './use-snoozes.ts'

export const SnoozeDialog = lazy(() => import('./snooze-dialog.tsx'))

/** Leaves the action out of this person's inbox for a time, or takes it back. */
export function SnoozeButton({ action, className, onOpen }: { action: Action; className: string; onOpen?: () => void }) {
  const until = useSnoozes().get(action.id)
  const [isOpen, setOpen] = useState(false)
  if (action.state !== 'proposed' && action.state !== 'outcome_unknown') return null
  return (
    <>
      <button type="button" className={className} data-testid="snooze" onClick={onOpen ?? (() => setOpen(true))}>
        {until === undefined ? 'Snooze…' : `Snoozed until ${clockText(until, Date.now())}`}
      </button>
      {isOpen && (
        <Boundary>
          <SnoozeDialog action={action} onClose={() => setOpen(false)} />
        </Boundary>
      )}
    </>
  )
}
