import { Button } from '../ui/index.ts'
import type { Progress } from './use-each.ts'

/** Shows the progress of a change of many actions, and stops it. Changes that were made are kept. */
export function Running({ progress: { done, of }, onStop }: { progress: Progress; onStop: () => void }) {
  return (
    <>
      <progress max={of} value={done} aria-label="Sent" />
      <p className="muted">
        {done.toLocaleString('en')} of {of.toLocaleString('en')}
      </p>
      <div className="dialog-end">
        <Button variant="outlined" autoFocus onClick={onStop}>
          Stop
        </Button>
      </div>
    </>
  )
}
