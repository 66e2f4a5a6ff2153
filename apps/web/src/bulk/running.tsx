import { Button } from '../ui/index.ts'
import type { Progress } from './use-each.ts'

/** How far a change of many actions has come. What it has done stays done when somebody stops it. */
export function Running({ progress: { done, of }, onStop }: { progress: Progress; onStop: () => void }) {
  return (
    <>
      <progress max={of} value={done} aria-label="Sent" />
      <p className="muted">
        {done.toLocaleString('en')} of {of.toLocaleString('en')}
      </p>
      <div className="choice-dialog-end">
        <Button variant="outlined" autoFocus onClick={onStop}>
          Stop
        </Button>
      </div>
    </>
  )
}
