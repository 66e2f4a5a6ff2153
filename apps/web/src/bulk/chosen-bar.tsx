import type { Action } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { lazy, useState } from 'react'
import { Boundary } from '../shell/boundary.tsx'
import { Button, Notice } from '../ui/index.ts'
import type { Verdict } from './plan.ts'
import type { Refused } from './send.ts'
import './bulk.css'

const BulkDialog = lazy(() => import('./bulk-dialog.tsx'))

type ChosenBarProps = {
  chosen: readonly Action[]
  /** How many rows there are to choose from. */
  of: number
  isOffline: boolean
  onChooseAll: () => void
  onClear: () => void
}

/** Says how many rows are chosen, and decides about them together. Below the list, so that no row moves when it comes. */
export function ChosenBar({ chosen, of, isOffline, onChooseAll, onClear }: ChosenBarProps) {
  const [open, setOpen] = useState<{ verdict: Verdict; chosen: readonly Action[] }>()
  const [refused, setRefused] = useState<readonly Refused[]>([])
  const close = () => setOpen(undefined)
  return (
    <>
      {refused.length > 0 && (
        <div role="alert">
          <Notice tone="warning" action={<Button onClick={() => setRefused([])}>Close</Button>}>
            {refused.length} {refused.length === 1 ? 'was' : 'were'} not decided:
            <ul className="bulk-refused">
              {refused.slice(0, 10).map(({ action, why }) => (
                <li key={action.id}>
                  <bdi>{showInvisible(action.description)}</bdi>: {why}
                </li>
              ))}
            </ul>
          </Notice>
        </div>
      )}
      {chosen.length > 0 && (
        <section className="bulk-bar" aria-label="Chosen actions" data-testid="chosen-bar">
          <span role="status">{isOffline ? 'Offline, decisions paused' : `${chosen.length.toLocaleString('en')} chosen`}</span>
          {chosen.length < of && (
            <Button variant="text" onClick={onChooseAll}>
              Choose all {of.toLocaleString('en')}
            </Button>
          )}
          <Button variant="text" onClick={onClear}>
            Clear
          </Button>
          <Button variant="outlined" disabled={isOffline} onClick={() => setOpen({ verdict: 'decline', chosen })}>
            Decline…
          </Button>
          <Button variant="outlined" disabled={isOffline} onClick={() => setOpen({ verdict: 'approve', chosen })}>
            Approve…
          </Button>
        </section>
      )}
      {open && (
        <Boundary>
          <BulkDialog
            {...open}
            onClose={close}
            onDone={(not) => {
              setRefused(not)
              close()
              onClear()
            }}
          />
        </Boundary>
      )}
    </>
  )
}
