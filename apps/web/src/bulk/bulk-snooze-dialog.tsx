import { clockText } from '@countersign/react'
import { useQueryClient } from '@tanstack/react-query'
import { useId } from 'react'
import { useServices } from '../services.tsx'
import { SNOOZES, useSnoozes } from '../snooze/use-snoozes.ts'
import { Button } from '../ui/index.ts'
import { Dialog } from '../ui/overlays.ts'
import { countText, type Outcome, type TaskDialogProps } from './outcome.tsx'
import { Running } from './running.tsx'
import { snoozeChoices, TOO_SOON } from './snooze-choices.ts'
import { shareText } from './split.ts'
import { useEach } from './use-each.ts'
import '../ui/choice-dialog.css'
import '../snooze/snooze.css'
import './bulk-task.css'

/** Asks until when the chosen actions are left out of this person's inbox. */
export default function BulkSnoozeDialog({ chosen, onClose, onDone }: TaskDialogProps) {
  const { client } = useServices()
  const snoozes = useSnoozes()
  const queries = useQueryClient()
  const { progress, stop, change } = useEach()
  const id = useId()
  const nowMs = Date.now()
  const choices = snoozeChoices(chosen, nowMs)
  const snoozed = chosen.filter(({ id: actionId }) => snoozes.has(actionId)).map((action) => ({ action }))

  async function snooze(words: string) {
    // Some may have come too near to their deadline while the dialog was open.
    const choice = snoozeChoices(chosen, Date.now()).find((one) => one.words === words)
    const { going, left } = choice ?? { going: [], left: chosen.map((action) => ({ action, why: TOO_SOON })) }
    const { went, not } = await change(going, ({ action, body }, options) => client.actions.snooze(action.id, body, options))
    const until = choice?.atMs === undefined ? 'until 5 minutes before each expires' : `until ${timeText(choice.atMs)}`
    finish({ said: `${countText(went.length)} snoozed ${until}`, doing: 'snoozed', went, not: [...not, ...left] })
  }

  async function takeBack() {
    const { went, not } = await change(snoozed, ({ action }, options) => client.actions.endSnooze(action.id, options))
    finish({ said: `${countText(went.length)} back in the inbox`, doing: 'taken back', went, not })
  }

  function finish(outcome: Outcome) {
    void queries.invalidateQueries({ queryKey: SNOOZES })
    onDone(outcome)
  }

  const timeText = (atMs: number) => clockText(new Date(atMs).toISOString(), Date.now())
  return (
    <Dialog open onClose={progress ? undefined : onClose} aria-labelledby={id} fullWidth maxWidth="xs">
      <div className="choice-dialog snooze bulk-task">
        <h2 id={id}>Snooze {countText(chosen.length)}</h2>
        {progress && <Running progress={progress} onStop={stop} />}
        {!progress && (
          <>
            <p className="muted">Your inbox hides them until then, or until they change. Others still see them.</p>
            {choices.map((choice, at) => (
              <Button key={choice.words} variant="outlined" autoFocus={at === 0} onClick={() => void snooze(choice.words)}>
                <span>{choice.words}</span>
                <span>
                  <span className="bulk-share">{shareText(choice)}</span>{' '}
                  {choice.atMs !== undefined && <time>{timeText(choice.atMs)}</time>}
                </span>
              </Button>
            ))}
            {choices.length === 0 && <p>They expire too soon to be snoozed.</p>}
            {choices.some(({ left }) => left.length > 0) && <p className="muted">What is left out stays chosen.</p>}
            <div className="choice-dialog-end">
              {snoozed.length > 0 && <Button onClick={() => void takeBack()}>Back to the inbox now</Button>}
              <Button onClick={onClose}>Cancel</Button>
            </div>
          </>
        )}
      </div>
    </Dialog>
  )
}
