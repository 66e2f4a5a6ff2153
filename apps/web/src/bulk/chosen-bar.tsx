import type { Action } from '@countersign/client'
import { Button } from '../ui/index.ts'
import type { BulkTask } from './use-bulk.ts'
import './bulk.css'

type ChosenBarProps = {
  chosen: readonly Action[]
  /** How many rows there are to choose from. */
  of: number
  /** How many of them are of the same shape as the only one that is chosen; 0 where several are. */
  alike: number
  isOffline: boolean
  onChooseAll: () => void
  onChooseAlike: () => void
  onClear: () => void
  onAsk: (task: BulkTask) => void
}

/** On a narrow screen this word is said and not shown. */
const Choose = () => <span className="bulk-word">Choose</span>

/** Says how many rows are chosen, and what can be done with them together. Below the list, so that no row moves when it comes. */
export function ChosenBar({ chosen, of, alike, isOffline, onChooseAll, onChooseAlike, onClear, onAsk }: ChosenBarProps) {
  if (chosen.length === 0) return null
  return (
    <section className="bulk-bar" aria-label="Chosen actions" data-testid="chosen-bar">
      <div className="bulk-choice">
        <span role="status">{isOffline ? 'Offline, decisions paused' : `${chosen.length.toLocaleString('en')} chosen`}</span>
        {chosen.length < alike && alike < of && (
          <Button variant="text" onClick={onChooseAlike}>
            <Choose /> {alike.toLocaleString('en')} alike
          </Button>
        )}
        {chosen.length < of && (
          <Button variant="text" onClick={onChooseAll}>
            <Choose /> all {of.toLocaleString('en')}
          </Button>
        )}
        <Button variant="text" onClick={onClear}>
          Clear
        </Button>
      </div>
      <div className="bulk-tasks">
        <Button variant="text" onClick={() => onAsk('snooze')}>
          Snooze…
        </Button>
        <Button variant="text" onClick={() => onAsk('assign')}>
          Assign…
        </Button>
        <Button variant="outlined" disabled={isOffline} onClick={() => onAsk('decline')}>
          Decline…
        </Button>
        <Button variant="outlined" disabled={isOffline} onClick={() => onAsk('approve')}>
          Approve…
        </Button>
      </div>
    </section>
  )
}
